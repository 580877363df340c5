/** Clusters: namespace, finalizer, conditions, liveness, and the end. */
import { conditionTypes, findCondition, reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { isMusterError } from '../../../api/errors.ts';
import { finalizers, labels } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { CacheEvent } from '../../kube/cache.ts';
import type { Controller, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { addFinalizer, isDeleting } from '../../kube/finalizers.ts';
import { clusterOf, identityKey, indexes, needs, requestOf } from './caches.ts';
import { detachCluster, removeLeftovers } from './cluster-detach.ts';
import { inheritLiveness, lastSeenMs } from './cluster-liveness.ts';
import { ensureClusterNamespace } from './cluster-namespace.ts';
import type { ClusterView } from './cluster-status.ts';
import { clusterStatus } from './cluster-status.ts';
import { moreIn, viewOf } from './cluster-view.ts';
import type { HubContext } from './context.ts';
import type { EdgeCleaner } from './edge-cleaner.ts';
import { isClaim } from './registration-state.ts';
import type { Outside } from './slots.ts';
import { createSlots } from './slots.ts';

/** `cleaners`: what has to be done in a cluster when its Cluster ends, in this order. */
export function createClusterController(context: HubContext, cleaners: readonly EdgeCleaner[]): Controller {
  const { caches } = context;
  const slots = createSlots(8);
  const controller = createController({
    name: 'cluster',
    // the ends of clusters wait for their edges side by side, and others pass between them
    concurrency: 256,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (key, { signal }) =>
      slots.run((outside) => reconcileCluster(context, cleaners, key, outside, signal), signal),
  });
  needs(controller, caches.config, caches.tokens, caches.credentials, caches.readerRoles, caches.bindings);
  // what a registration works on is looked at when it has ended
  const settled = (keys: readonly string[]): string[] => keys.filter((key) => !context.granting.has(key));
  controller.watch(caches.clusters, {
    predicate: (event) => noteHeartbeat(context, event),
    map: ({ type, object }) => (type === 'deleted' ? [keyOf(object)] : settled([keyOf(object)])),
  });
  // one that shares its clientID with another concerns both
  controller.watch(caches.clusters, {
    predicate: ({ type, object, previous }) => type !== 'updated' || object.spec?.clientID !== previous?.spec?.clientID,
    map: ({ object }) => settled(sharers(context, object)),
  });
  controller.watch(caches.namespaces, { map: ({ object }) => settled(list(clusterOf(object))) });
  controller.watch(caches.requests, {
    predicate: ({ type, object, previous }) =>
      type === 'deleted' || object.status?.granted !== previous?.status?.granted,
    map: ({ object }) => {
      const name = object.status?.clusterName;
      return name ? [`${object.metadata.namespace ?? ''}/${name}`] : [];
    },
  });
  // an agent that claims a cluster, or no longer does
  controller.watch(caches.requests, {
    predicate: ({ object, previous }) => isClaim(object) || isClaim(previous),
    map: ({ object }) => {
      const key = identityKey(object.metadata.namespace ?? '', object.spec?.clientID);
      return object.spec?.clientID ? context.clusters.byIndex(indexes.identity, key).map(keyOf) : [];
    },
  });
  controller.watch(caches.serviceAccounts, {
    predicate: ({ type, object }) => type === 'deleted' && requestOf(object) !== undefined,
    map: ({ object }) => list(clusterOf(object)),
  });
  return controller;
}

const list = (key: string | undefined): string[] => (key === undefined ? [] : [key]);

/** Remembers when a heartbeat came; the agent's own clock may be wrong. Every event is of interest. */
function noteHeartbeat(context: HubContext, { type, object, previous, initial }: CacheEvent<Cluster>): boolean {
  const key = keyOf(object);
  if (type === 'added' && initial) inheritLiveness(context, object, Date.now());
  if (type === 'deleted') [context.observed, context.inherited, context.troubles].forEach((each) => each.delete(key));
  else if (type === 'updated' && previous && lastSeenMs(previous) !== lastSeenMs(object)) {
    context.observed.set(key, Date.now());
    context.troubles.delete(key);
  }
  return true;
}

function sharers(context: HubContext, cluster: Cluster): string[] {
  const clientID = cluster.spec?.clientID;
  if (!clientID) return [];
  return context.clusters.byIndex(indexes.identity, identityKey(cluster.metadata.namespace ?? '', clientID)).map(keyOf);
}

async function reconcileCluster(
  context: HubContext,
  cleaners: readonly EdgeCleaner[],
  key: string,
  outside: Outside,
  signal: AbortSignal,
): Promise<Result | void> {
  const cluster = context.clusters.get(key);
  if (cluster === undefined) return await removeLeftovers(context, key, signal);
  if (labels.clusterManagement in (cluster.metadata.labels ?? {})) return;
  if (isDeleting(cluster)) return await detachCluster(context, cleaners, cluster, outside, signal);
  // the registration that works on it writes its first status, in one request with what it grants
  if (context.granting.has(key)) return;
  const current = await addFinalizer(context.client, Clusters, cluster, finalizers.cluster, { signal });
  if (current !== cluster) context.clusters.remember(current);
  const { namespace, error } = await namespaceView(context, current, signal);
  const nowMs = Date.now();
  const moreMs = error === undefined ? moreIn(context, context.clusters.get(key) ?? current, nowMs) : 0;
  if (moreMs > 0) return { requeueAfterMs: moreMs };
  let view: ClusterView | undefined;
  const written = await context.clusterStatus.update(
    key,
    (latest) => {
      view = viewOf(context, latest, namespace, nowMs);
      return clusterStatus(latest, view, new Date(nowMs));
    },
    signal,
  );
  if (written !== undefined && written.before !== written.after) announce(context, written.before, written.after);
  if (error !== undefined) throw error as Error;
  if (view?.liveness.state === 'online') return { requeueAfterMs: view.liveness.untilMs - nowMs };
}

/** The namespace, or why there is none; an `error` is to be tried again. */
async function namespaceView(
  context: HubContext,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<{ namespace: ClusterView['namespace']; error?: unknown }> {
  try {
    const namespace = await ensureClusterNamespace(context, cluster, signal);
    return { namespace: namespace.metadata.name ?? '' };
  } catch (error) {
    // trying again is no use: a name does not change
    if (isMusterError(error, 'INVALID_ARGUMENT')) {
      return { namespace: { reason: reasons.invalidSpec, message: error.describe() } };
    }
    if (isMusterError(error, 'ALREADY_OWNED')) {
      return { namespace: { reason: reasons.namespaceTaken, message: error.describe() }, error };
    }
    if (isMusterError(error, 'CONFLICT')) {
      return { namespace: { reason: reasons.waitingForNamespace, message: error.describe() }, error };
    }
    if (isForbidden(error)) return { namespace: { reason: reasons.error, message: error.message }, error };
    throw error;
  }
}

/** Tells that another agent claims the cluster, once for each. */
function announceClaim(context: HubContext, before: Cluster, after: Cluster): void {
  const claim = findCondition(after.status?.conditions, conditionTypes.contested);
  const known = findCondition(before.status?.conditions, conditionTypes.contested);
  if (claim !== undefined && claim.message !== known?.message) {
    context.events.event(after, 'Warning', reasons.identityInUse, claim.message ?? '');
  }
}

/** Tells what changed for the user: liveness, and why a registration is stuck. */
function announce(context: HubContext, before: Cluster, after: Cluster): void {
  announceClaim(context, before, after);
  for (const type of [conditionTypes.online, conditionTypes.registered, conditionTypes.processed]) {
    const was = findCondition(before.status?.conditions, type);
    const is = findCondition(after.status?.conditions, type);
    if (is === undefined || (was?.status === is.status && was.reason === is.reason)) continue;
    if (is.status === 'False' && is.reason !== reasons.waitingForAgent) {
      context.events.event(after, 'Warning', is.reason ?? type, is.message ?? type);
    } else if (type === conditionTypes.online && was?.status === 'False' && is.status === 'True') {
      context.events.event(after, 'Normal', reasons.checkedIn, 'the agent reports again');
    }
  }
}
