/**
 * Where a rule found a cluster, as it stands on the Cluster. Only the hub, and who may write rules, can say so there
 * (policy muster-source-marks). Pure.
 */
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { annotations } from '../../../api/muster/constants.ts';
import type { KubeconfigReference } from '../../../api/muster/kubeconfig-reference.ts';
import { parseReference } from '../../../api/muster/kubeconfig-reference.ts';
import { kubeconfigKey } from './caches.ts';

/** All that is said of it: what is connected to has to be looked at again when it changes. */
export function sourceMarks(cluster: Cluster | undefined): string[] {
  const notes = cluster?.metadata.annotations ?? {};
  return [annotations.kubeconfig, annotations.endpoint].map((key) => notes[key] ?? '');
}

/** The kubeconfig, for a Cluster that is still the rule's; it may be in any namespace of sources. */
export function markedReference(cluster: Cluster): KubeconfigReference | undefined {
  const reference = parseReference(cluster.metadata.annotations?.[annotations.kubeconfig]);
  if (reference === undefined) return undefined;
  return `${reference.namespace}/${reference.name}` === kubeconfigKey(cluster) ? reference : undefined;
}

/** A kubeconfig for a cluster whose Secret holds a token only; `endpoint` is `cluster` of a kubeconfig, as JSON. */
export function endpointKubeconfig(endpoint: string, token: string): string {
  const name = 'source';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: JSON.parse(endpoint) as unknown }],
    users: [{ name, user: { token } }],
  });
}
