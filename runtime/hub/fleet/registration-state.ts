/** How far the registration of a Cluster is, from the caches. */
import { conditionTypes, reasons } from '../../../api/conditions.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import { ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { identityKey, indexes } from './caches.ts';
import { heardMs } from './cluster-liveness.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { ClusterView } from './cluster-status.ts';
import type { HubContext } from './context.ts';
import { accountKey } from './registration-grant.ts';

/** A request that was granted and stands. */
export function isGranted({ status, metadata }: ClusterRegistration): boolean {
  return status?.granted === true && metadata.deletionTimestamp === undefined;
}

/** Asked live: a revocation deletes rights, and one must not come back after it was taken. */
export async function isGrantedStill(
  { client }: Pick<HubContext, 'client'>,
  request: ClusterRegistration,
  clusterNamespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const [asked, holder] = await Promise.all([
    client.find(ClusterRegistrations, parseKey(keyOf(request)), { signal }),
    client.find(ServiceAccounts, parseKey(accountKey(request, clusterNamespace)), { signal }),
  ]);
  return asked !== undefined && asked.metadata.uid === request.metadata.uid && isGranted(asked) && holder !== undefined;
}

type Known = Pick<HubContext, 'clusters' | 'requests' | 'serviceAccounts'>;

/** Requests that were granted for the Cluster. */
export function grantedRequests(context: Known, cluster: Cluster): ClusterRegistration[] {
  const namespace = cluster.metadata.namespace ?? '';
  const clientID = cluster.spec?.clientID;
  if (!clientID) return [];
  return context.requests
    .byIndex(indexes.identity, identityKey(namespace, clientID))
    .filter(({ status }) => status?.granted === true && status.clusterName === cluster.metadata.name);
}

export function registrationOf(context: Known, cluster: Cluster): ClusterView['registration'] {
  const namespace = cluster.metadata.namespace ?? '';
  const clientID = cluster.spec?.clientID;
  const holders = clientID ? context.clusters.byIndex(indexes.identity, identityKey(namespace, clientID)) : [];
  const others = holders
    .filter((holder) => !isDeleting(holder))
    .map(keyOf)
    .filter((key) => key !== keyOf(cluster));
  if (others.length > 0) {
    const message = `clientID is also that of ${others.sort().join(', ')}; change all but one`;
    return { state: 'refused', reason: reasons.ambiguousIdentity, message };
  }
  const granted = grantedRequests(context, cluster);
  if (granted.length === 0) {
    return {
      state: 'waiting',
      reason: reasons.waitingForAgent,
      message: 'no agent has asked to be registered as this cluster',
    };
  }
  const alive = granted.some(
    (request) => context.serviceAccounts.get(accountKey(request, namespaceOf(cluster))) !== undefined,
  );
  if (alive) return { state: 'granted' };
  return {
    state: 'refused',
    reason: reasons.credentialRevoked,
    message: 'the account of the agent was deleted on the hub, so its credential is rejected; register it again',
  };
}

/**
 * Whether the agent of a granted request was heard of since it was granted. A heartbeat does not tell its sender; but
 * two agents are granted one Cluster only when the first is silent, or when its owner or the hub wants the second.
 * `doubt`: the answer when both are of the same second and this hub did not see it (times of the API have no more).
 */
export function isInUse(
  context: Pick<HubContext, 'observed' | 'published'>,
  request: ClusterRegistration,
  cluster: Cluster,
  { nowMs, doubt }: { nowMs: number; doubt: boolean },
): boolean {
  if (request.status?.granted !== true) return false;
  const heard = heardMs(context, cluster, nowMs);
  if (heard === undefined) return false;
  const published = context.published.get(keyOf(request));
  if (published !== undefined && context.observed.has(keyOf(cluster))) return heard >= published;
  const granted = request.status.conditions?.find(({ type }) => type === conditionTypes.granted);
  const second = Math.floor(Date.parse(granted?.lastTransitionTime ?? request.metadata.creationTimestamp ?? '') / 1000);
  const heardSecond = Math.floor(heard / 1000);
  return heardSecond > second || (doubt && heardSecond === second);
}

/** Requests that wait because the Cluster's own agent reports. */
export function claimsOn(context: Pick<HubContext, 'requests'>, cluster: Cluster): ClusterRegistration[] {
  const clientID = cluster.spec?.clientID;
  if (!clientID) return [];
  return context.requests
    .byIndex(indexes.identity, identityKey(cluster.metadata.namespace ?? '', clientID))
    .filter((request) => request.metadata.deletionTimestamp === undefined && isClaim(request));
}

/** The request was told that somebody else is registered. */
export function isClaim(request: ClusterRegistration | undefined): boolean {
  return (
    request?.status?.conditions?.some(
      ({ type, reason }) => type === conditionTypes.granted && reason === reasons.identityInUse,
    ) ?? false
  );
}
