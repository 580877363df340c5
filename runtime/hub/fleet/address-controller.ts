/**
 * A change of the hub's address or CA, told to agents that registered by a token: an annotation on their Cluster, which
 * they see in the answer to each heartbeat, and a mark on their account, which they watch, so that they ask at once.
 * Imported ones are told at the edge.
 */
import { durations } from '../../../api/durations.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import { addressRevision, formatHubAddress } from '../../../api/fleet/hub-address.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import type { Address } from './address-history.ts';
import { newsFor, recordAddress } from './address-history.ts';
import { needs } from './caches.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
import { isImported } from './local-cluster.ts';
import { accountKey } from './registration-grant.ts';
import { isRotating } from './registration-request.ts';
import { grantedRequests } from './registration-state.ts';

/** The key of the configuration itself; Clusters have a slash in theirs. */
const history = 'history';

export function createAddressController(context: HubContext): Controller {
  let known: readonly Address[] = [];
  const controller = createController({
    name: 'address',
    concurrency: 4,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    async reconcile(key, { signal }) {
      if (key !== history) return await tell(context, key, known, signal);
      known = await recordAddress(context, signal);
      if (known.length < 2) return;
      for (const cluster of context.caches.clusters.list()) controller.enqueue(keyOf(cluster));
    },
  });
  needs(controller, context.caches.clusters, context.caches.requests, context.caches.serviceAccounts);
  controller.watch(context.caches.config, { map: () => [history] });
  return controller;
}

async function tell(context: HubContext, key: string, known: readonly Address[], signal: AbortSignal): Promise<void> {
  const cluster = context.clusters.get(key);
  if (cluster === undefined || isDeleting(cluster) || isImported(context, cluster)) return;
  const registeredMs = registeredAt(context, cluster);
  const news = registeredMs === undefined ? undefined : newsFor(known, registeredMs);
  if (news === undefined) return;
  const text = formatHubAddress(news);
  if (cluster.metadata.annotations?.[annotations.hubAddress] !== text) {
    const patch = { metadata: { uid: cluster.metadata.uid, annotations: { [annotations.hubAddress]: text } } };
    const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
    context.clusters.remember(await context.client.patch(Clusters, parseKey(key), patch, options));
  }
  await Promise.all(
    grantedRequests(context, cluster)
      .filter(isRotating)
      .map((request) => call(context, accountKey(request, namespaceOf(cluster)), addressRevision(news), signal)),
  );
}

/** Agents of ours watch their account: a mark there makes them ask, and the answer is what was written above. */
async function call(context: HubContext, account: string, revision: string, signal: AbortSignal): Promise<void> {
  const known = context.serviceAccounts.get(account);
  if (known === undefined || known.metadata.annotations?.[annotations.hubAddressRevision] === revision) return;
  const patch = { metadata: { uid: known.metadata.uid, annotations: { [annotations.hubAddressRevision]: revision } } };
  const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
  context.serviceAccounts.remember(await context.client.patch(ServiceAccounts, parseKey(account), patch, options));
}

/** When its agent asked, and so was told an address. */
function registeredAt(context: HubContext, cluster: Cluster): number | undefined {
  const times = grantedRequests(context, cluster).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
  return times.length === 0 ? undefined : Math.max(...times);
}
