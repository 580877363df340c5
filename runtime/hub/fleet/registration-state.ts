/** How far the registration of a Cluster is, from the caches. */
import { reasons } from '../../../api/conditions.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { identityKey, indexes } from './caches.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { ClusterView } from './cluster-status.ts';
import type { HubContext } from './context.ts';
import { accountKey } from './registration-grant.ts';

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
  if (holders.length > 1) {
    const others = holders.map(keyOf).filter((key) => key !== keyOf(cluster));
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
