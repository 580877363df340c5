/**
 * ClusterRegistrations: from a request to a credential. Keys are identities (`namespace/clientID`) and not requests, so
 * that requests of one cluster are never worked on side by side and the newest of them wins by rule.
 */
import { durations } from '../../../api/durations.ts';
import { labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { CacheEvent } from '../../kube/cache.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { pickNewest } from '../../registration/decision.ts';
import { identityKey, indexes, needs } from './caches.ts';
import { lastSeenMs } from './cluster-liveness.ts';
import type { HubContext } from './context.ts';
import { deleteSame } from './delete-same.ts';
import { decideOne } from './registration-decide.ts';
import { lockAnnotation, toRequest } from './registration-request.ts';
import { isInUse } from './registration-state.ts';

export function createRegistrationController(context: HubContext): Controller {
  const controller = createController({
    name: 'registration',
    concurrency: 24,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (key, reconcile) => reconcileIdentity(context, key, reconcile),
  });
  const { caches } = context;
  needs(
    controller,
    caches.config,
    caches.tokens,
    caches.namespaces,
    caches.serviceAccounts,
    caches.credentials,
    caches.readerRoles,
    caches.bindings,
    caches.deployments,
  );
  controller.watch(context.caches.requests, {
    map: ({ object }) => [identityKey(object.metadata.namespace ?? '', object.spec?.clientID)],
    predicate: needsLook,
  });
  controller.watch(context.caches.clusters, {
    map: ({ object }) =>
      object.spec?.clientID ? [identityKey(object.metadata.namespace ?? '', object.spec.clientID)] : [],
    predicate: (event) => mattersToRequests(context, event),
  });
  return controller;
}

/** What the hub has written itself is no news. */
function needsLook({ type, object, previous, initial }: CacheEvent<ClusterRegistration>): boolean {
  if (type === 'updated') return previous?.metadata.generation !== object.metadata.generation;
  return type === 'added' || !initial;
}

/** A heartbeat matters only where requests compete: the one that is in use replaces the others. */
function mattersToRequests(context: HubContext, { type, object, previous, initial }: CacheEvent<Cluster>): boolean {
  // one that a request is being given right now
  if (type === 'added' && !initial && context.granting.has(keyOf(object))) return false;
  if (type !== 'updated' || previous === undefined) return true;
  const lock = (cluster: Cluster) => cluster.metadata.annotations?.[lockAnnotation];
  if (previous.spec?.clientID !== object.spec?.clientID || deletionChanged(previous, object)) return true;
  if (lock(previous) !== lock(object)) return true;
  if (lastSeenMs(previous) === lastSeenMs(object)) return false;
  const key = identityKey(object.metadata.namespace ?? '', object.spec?.clientID);
  return context.requests.byIndex(indexes.identity, key).length > 1;
}

function deletionChanged(before: Cluster | undefined, now: Cluster): boolean {
  return before?.metadata.deletionTimestamp !== now.metadata.deletionTimestamp;
}

async function reconcileIdentity(
  context: HubContext,
  key: string,
  { signal }: ReconcileContext,
): Promise<Result | void> {
  const open = context.requests
    .byIndex(indexes.identity, key)
    .filter(
      ({ metadata }) =>
        metadata.deletionTimestamp === undefined && !(labels.clusterManagement in (metadata.labels ?? {})),
    );
  const byKey = new Map(open.map((request) => [keyOf(request), request]));
  if (key.endsWith('/') && open.every((request) => !request.spec?.clientID)) {
    await Promise.all(open.map((request) => decideOne(context, request, signal)));
    return;
  }
  const { newest, superseded } = pickNewest(open.map(toRequest));
  const request = newest && byKey.get(newest.key);
  if (request === undefined) return;
  const outcome = await decideOne(context, request, signal);
  if (outcome.cluster === undefined) {
    return outcome.againMs === undefined ? undefined : { requeueAfterMs: outcome.againMs };
  }
  const replaced = superseded.flatMap(({ key: old }) => byKey.get(old) ?? []);
  const gone = replaced.filter((old) => isReplaced(context, outcome.cluster, old, request));
  if (gone.length === 0) return;
  // the cache may still show a request that an earlier look has deleted; removing the others for it would leave none
  const live = await context.client.find(ClusterRegistrations, parseKey(keyOf(request)), { signal });
  if (live?.metadata.uid !== request.metadata.uid || live?.status?.granted !== true) {
    return { requeueAfterMs: durations.hubRetryFirst };
  }
  // deleting a request takes back all that it was granted (revocation-controller.ts)
  await Promise.all(gone.map((old) => deleteSame(context.client, ClusterRegistrations, old, signal)));
}

/** The registration that the agent uses stays until the newer one was used: at every moment one of them works. */
function isReplaced(
  context: HubContext,
  clusterKey: string,
  old: ClusterRegistration,
  newest: ClusterRegistration,
): boolean {
  const cluster = context.clusters.get(clusterKey);
  if (cluster === undefined) return false;
  const nowMs = Date.now();
  const now = context.requests.get(keyOf(newest)) ?? newest;
  return (
    !isInUse(context, old, cluster, { nowMs, doubt: true }) || isInUse(context, now, cluster, { nowMs, doubt: false })
  );
}
