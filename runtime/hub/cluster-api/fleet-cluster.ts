/** The Cluster of Fleet that a registration asks for, and the smallest change that leads there. */
import { isDeepStrictEqual } from 'node:util';
import { agentFields } from '../../../api/fleet/agent-settings.ts';
import { apiVersion, finalizers } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { randomToken } from '../../../api/fleet/names.ts';
import { annotations } from '../../../api/muster/constants.ts';
import { formatReference } from '../../../api/muster/kubeconfig-reference.ts';
import { difference } from '../fleet/status-writer.ts';
import type { Registration } from './registration.ts';
import { formatLoss } from './registration.ts';

/** What the rule sets, and nothing else of the Cluster. */
export interface WantedCluster {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** `bootstrapSecret`: name of the Secret with the token's values (mode Agent). */
export function wantedCluster(registration: Registration, bootstrapSecret: string): WantedCluster {
  const { rule, source, workspace, kubeconfig, agent, loss } = registration;
  const notes: Record<string, string> = {
    ...registration.annotations,
    [annotations.rule]: rule,
    [annotations.source]: source.key,
    [annotations.sourceUid]: source.uid,
    [annotations.onSourceDeleted]: formatLoss(loss),
    ...(kubeconfig === undefined
      ? { [annotations.bootstrapSecret]: `${workspace}/${bootstrapSecret}` }
      : { [annotations.kubeconfig]: formatReference(kubeconfig) }),
    ...(kubeconfig?.endpoint === undefined ? {} : { [annotations.endpoint]: JSON.stringify(kubeconfig.endpoint) }),
  };
  const spec = present({
    ...(kubeconfig === undefined
      ? {}
      : {
          kubeConfigSecret: kubeconfig.name,
          ...(kubeconfig.namespace === workspace ? {} : { kubeConfigSecretNamespace: kubeconfig.namespace }),
        }),
    ...agentFields(agent),
  });
  const wanted = { labels: registration.labels, annotations: notes, spec };
  return { ...wanted, annotations: { ...notes, [annotations.applied]: JSON.stringify(keysOf(wanted)) } };
}

/** The Cluster as it is created. */
export function newCluster(registration: Registration, bootstrapSecret: string): Cluster {
  const { spec, ...metadata } = wantedCluster(registration, bootstrapSecret);
  const { name, workspace: namespace } = registration;
  return {
    apiVersion,
    kind: 'Cluster',
    // with the finalizer that every Cluster gets, which saves a write
    metadata: { name, namespace, finalizers: [finalizers.cluster], ...metadata },
    // unknown to anyone else, so that nobody is taken for it
    spec: { ...spec, clientID: randomToken() },
  };
}

interface Keys {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
  readonly spec: readonly string[];
}

function keysOf({ labels, annotations: notes, spec }: WantedCluster): Keys {
  const sorted = (fields: object): string[] => Object.keys(fields).sort();
  return { labels: sorted(labels), annotations: sorted(notes), spec: sorted(spec) };
}

/** What the rule set last, so that it takes away only what is its own. */
function appliedKeys(cluster: Cluster): Keys {
  const none = { labels: [], annotations: [], spec: [] };
  try {
    const read = JSON.parse(cluster.metadata.annotations?.[annotations.applied] ?? '{}') as Partial<Keys>;
    const list = (value: unknown): string[] => (Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []);
    return { labels: list(read.labels), annotations: list(read.annotations), spec: list(read.spec) };
  } catch {
    return none;
  }
}

/** Merge patch from the Cluster as it is to what is wanted; `undefined` when it is that already. */
export function clusterPatch(cluster: Cluster, wanted: WantedCluster): Record<string, unknown> | undefined {
  const applied = appliedKeys(cluster);
  const part = (now: object | undefined, before: readonly string[], then: Readonly<Record<string, unknown>>) => {
    const current = (now ?? {}) as Record<string, unknown>;
    const keys = new Set([...before, ...Object.keys(then)]);
    const old = Object.fromEntries([...keys].filter((key) => key in current).map((key) => [key, current[key]]));
    return isDeepStrictEqual(old, then) ? undefined : difference(old, then);
  };
  const { metadata, spec } = cluster;
  const labels = part(metadata.labels, applied.labels, wanted.labels);
  const notes = part(metadata.annotations, applied.annotations, wanted.annotations);
  const fields = part(spec, applied.spec, wanted.spec);
  if (labels === undefined && notes === undefined && fields === undefined) return undefined;
  return {
    metadata: { uid: metadata.uid, ...(labels ? { labels } : {}), ...(notes ? { annotations: notes } : {}) },
    ...(fields ? { spec: fields } : {}),
  };
}

/** Without what a rule leaves out, or takes back with null. */
function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}
