/**
 * A change of the hub's address or CA, told to agents that registered by a token: an annotation on their Cluster, which
 * they see in the answer to each heartbeat, so that nothing has to be asked for it. Imported ones are told at the edge.
 */
import { durations } from '../../../api/durations.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import { formatHubAddress } from '../../../api/fleet/hub-address.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import type { Address } from './address-history.ts';
import { newsFor, recordAddress } from './address-history.ts';
import { needs } from './caches.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
import { isImported } from './local-cluster.ts';
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
  needs(controller, context.caches.clusters, context.caches.requests);
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
  if (cluster.metadata.annotations?.[annotations.hubAddress] === text) return;
  const patch = { metadata: { uid: cluster.metadata.uid, annotations: { [annotations.hubAddress]: text } } };
  const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
  context.clusters.remember(await context.client.patch(Clusters, parseKey(key), patch, options));
}

/** When its agent asked, and so was told an address. */
function registeredAt(context: HubContext, cluster: Cluster): number | undefined {
  const times = grantedRequests(context, cluster).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''));
  return times.length === 0 ? undefined : Math.max(...times);
}
