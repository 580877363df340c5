/** Fixed texts of muster's own kinds: what rules write on sources and on the registrations that they make. No schema code. */

/** API group and version of muster's own kinds. */
export const group = 'muster.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

/** Kinds of sources, as they stand in {@link annotations}.source. */
export const sourceKinds = ['Cluster', 'Secret', 'ClusterProfile'] as const;
export type SourceKind = (typeof sourceKinds)[number];

export const labels = {
  /** On a namespace, value `true`: its Secrets may be read by the hub as those of sources. The hub cannot set it. */
  source: 'muster.dev/source',
  /** On a registration that a rule made: the group that the rule puts it into; groups select by it. */
  clusterGroup: 'muster.dev/cluster-group',
} as const;

/** On a registration that a rule made. Only the hub, and who may write rules, can set them (policy muster-sources). */
export const annotations = {
  /** Name of the rule. */
  rule: 'muster.dev/rule',
  /** `kind/namespace/name` of the source, such as `Cluster/team-a/east`. */
  source: 'muster.dev/source',
  /** UID of the source: one that was made anew under the same name is another. */
  sourceUid: 'muster.dev/source-uid',
  /** `namespace/name/key`, and `/context` unless the current one is meant: where the kubeconfig of the source is. */
  kubeconfig: 'muster.dev/kubeconfig',
  /** Where the cluster is, when the Secret holds only a token. JSON of `cluster` of a kubeconfig, without credentials. */
  endpoint: 'muster.dev/endpoint',
  /** Which labels, annotations and fields the rule has set; others are nobody's concern. JSON. */
  applied: 'muster.dev/applied',
  /** `true` while the registration is paused because its source is. */
  sourcePaused: 'muster.dev/source-paused',
  /** What happens when the source goes, as the rule said last: the rule may be gone by then. JSON of `onSourceDeleted`. */
  onSourceDeleted: 'muster.dev/on-source-deleted',
  /** When the source was deleted or lost its rule, RFC 3339; only while a delay runs. */
  sourceLost: 'muster.dev/source-lost',
  /** `namespace/name` of the Secret with the values of the agent's token (mode Agent, until the agent has registered). */
  bootstrapSecret: 'muster.dev/bootstrap-secret',
} as const;

/** On a source while it is registered: the cluster is detached before it goes. */
export const registrationFinalizer = 'muster.dev/registration';

/** Keys that never pass from a source to its registration: they steer hubs, or repeat what the source holds. */
export const reservedPrefixes = [
  'muster.dev/',
  'fleet.cattle.io/',
  'management.cattle.io/',
  'objectset.rio.cattle.io/',
  'kubectl.kubernetes.io/',
] as const;

export const defaults = {
  protocol: 'fleet',
  mode: 'Manager',
  name: '{name}',
  kubeconfigKey: 'value',
  tokenTTL: '24h',
  onSourceDeleted: { action: 'Detach', delay: '0s', timeout: '60s' },
} as const;
