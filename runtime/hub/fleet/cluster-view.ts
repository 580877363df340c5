/** What the status of a Cluster is computed from, as the hub knows it now, and what of it is worth waiting for. */
import { durations } from '../../../api/durations.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { clusterOf } from './caches.ts';
import { livenessOf } from './cluster-liveness.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { ClusterView } from './cluster-status.ts';
import type { HubContext } from './context.ts';
import { isImported } from './local-cluster.ts';
import { claimsOn, grantedRequests, registrationOf } from './registration-state.ts';

/** Whether the hub has said anything of the Cluster yet; the first that it says is where its namespace is. */
export function isTold({ status }: Cluster): boolean {
  return Boolean(status?.namespace);
}

export function viewOf(
  context: HubContext,
  cluster: Cluster,
  namespace: ClusterView['namespace'],
  nowMs: number,
): ClusterView {
  const claims = claimsOn(context, cluster).map(({ metadata }) => metadata.name ?? '');
  return {
    namespace,
    registration: registrationOf(context, cluster),
    liveness: livenessOf(context, cluster, nowMs),
    claims: claims.sort(),
    trouble: context.troubles.get(keyOf(cluster)),
  };
}

/** Name of the namespace of a Cluster, when the hub knows it to be there. */
export function knownNamespace(context: Pick<HubContext, 'namespaces'>, cluster: Cluster): string | undefined {
  const name = namespaceOf(cluster);
  const known = context.namespaces.get(name);
  if (known === undefined || isDeleting(known)) return undefined;
  return clusterOf(known) === keyOf(cluster) ? name : undefined;
}

type Known = Pick<HubContext, 'config' | 'clusters' | 'requests' | 'serviceAccounts' | 'observed' | 'published'>;

/**
 * How long what comes in a moment is waited for, in milliseconds, so that one write tells both: the first report of an
 * agent that was just granted the Cluster; what the import of a new Cluster comes to. 0 when it has come, or comes late.
 */
export function moreIn(context: Known, cluster: Cluster, nowMs: number): number {
  return isTold(cluster) ? firstReportIn(context, cluster, nowMs) : importIn(context, cluster, nowMs);
}

function firstReportIn(context: Known, cluster: Cluster, nowMs: number): number {
  const published = grantedRequests(context, cluster).map((request) => context.published.get(keyOf(request)) ?? 0);
  const latest = Math.max(0, ...published);
  if ((context.observed.get(keyOf(cluster)) ?? 0) >= latest) return 0;
  return Math.max(0, latest + durations.firstReportSoon - nowMs);
}

/** Clocks may differ: one that was made in the future, or long ago, is not waited for. */
function importIn(context: Known, cluster: Cluster, nowMs: number): number {
  if (!isImported(context, cluster)) return 0;
  const ageMs = nowMs - Date.parse(cluster.metadata.creationTimestamp ?? '');
  return ageMs >= 0 && ageMs < durations.importSoon ? durations.importSoon - ageMs : 0;
}
