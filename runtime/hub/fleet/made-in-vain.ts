/**
 * A request may overtake the Cluster that was declared for it: they come by two watches, and the hub makes one of its own.
 * What was declared before ours was made has come when ours has; then ours goes again.
 */
import { annotations } from '../../../api/fleet/constants.ts';
import { durations } from '../../../api/durations.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { identityKey, indexes } from './caches.ts';
import { lastSeenMs } from './cluster-liveness.ts';
import type { HubContext } from './context.ts';
import { deleteSame } from './delete-same.ts';
import { grantedRequests } from './registration-state.ts';

/** Whether a Cluster with the same clientID was there before the one that the hub has just made. */
export async function wasDeclared(context: HubContext, made: Cluster): Promise<boolean> {
  await context.clusters.caughtUp(keyOf(made), durations.clusterSeen);
  const identity = identityKey(made.metadata.namespace ?? '', made.spec?.clientID);
  return context.clusters.byIndex(indexes.identity, identity).some((holder) => keyOf(holder) !== keyOf(made));
}

/** Deletes those of `holders`, all of one clientID, that were made in vain; false when there is none. */
export async function takeBack(
  context: HubContext,
  holders: readonly Cluster[],
  signal: AbortSignal,
): Promise<boolean> {
  const standing = holders.filter((cluster) => !isDeleting(cluster));
  const vain = standing.filter((cluster) => isUnused(context, cluster));
  if (vain.length === 0 || vain.length === standing.length) return false;
  await Promise.all(vain.map((cluster) => deleteSame(context.client, Clusters, cluster, signal)));
  return true;
}

/** Made by a hub, and never used by an agent (the same as policy muster-hub-deletions says). */
function isUnused(context: HubContext, cluster: Cluster): boolean {
  if (!(annotations.requestedBy in (cluster.metadata.annotations ?? {}))) return false;
  return lastSeenMs(cluster) === undefined && grantedRequests(context, cluster).length === 0;
}
