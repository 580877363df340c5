/**
 * ClusterRegistrations: from a request to a credential. Keys are identities (`namespace/clientID`) and not requests, so
 * that requests of one cluster are never worked on side by side and the newest of them wins by rule.
 */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { isMusterError } from '../../../api/errors.ts';
import { finalizers, labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { autoClusterName } from '../../../api/fleet/names.ts';
import { registrationLabels } from '../../../api/labels.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isAlreadyExists, isNotFound } from '../../kube/api-error.ts';
import type { CacheEvent } from '../../kube/cache.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { decide, pickNewest } from '../../registration/decision.ts';
import { carryOutGrant } from '../../registration/grant.ts';
import { identityKey, indexes, needs } from './caches.ts';
import { ensureClusterNamespace, namespaceOf } from './cluster-namespace.ts';
import { lastSeenMs, livenessOf } from './cluster-liveness.ts';
import { clusterStatus } from './cluster-status.ts';
import type { HubContext } from './context.ts';
import { ensureOptions, hubFieldManager, isManaged } from './context.ts';
import { accountKey, accountOf, answer, answerName, grantChecks, grantRights } from './registration-grant.ts';
import { issueFor } from './registration-credential.ts';
import { readersFor } from './registration-readers.ts';
import { finish, tell } from './registration-report.ts';
import { isRotating, lockAnnotation, toRequest, toTarget } from './registration-request.ts';
import { isInUse, registrationOf } from './registration-state.ts';
import { isOneUse } from './token-objects.ts';

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
function mattersToRequests(context: HubContext, { type, object, previous }: CacheEvent<Cluster>): boolean {
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
  await Promise.all(gone.map((old) => remove(context, old, signal)));
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

/** What became of a request: the Cluster (`namespace/name`) that it has, else when to look again. */
type Outcome = { readonly cluster: string } | { readonly cluster?: undefined; readonly againMs?: number };

/** Decides a request and carries the decision out. */
async function decideOne(context: HubContext, request: ClusterRegistration, signal: AbortSignal): Promise<Outcome> {
  const namespace = request.metadata.namespace ?? '';
  const identity = request.spec?.clientID ?? '';
  const automatic = autoClusterName(identity);
  const holders = identity ? context.clusters.byIndex(indexes.identity, identityKey(namespace, identity)) : [];
  const named = identity ? context.clusters.get(`${namespace}/${automatic}`) : undefined;
  const spent = spentToken(context, request);
  if (spent !== undefined) {
    await tell(context, request, { outcome: 'reject', reason: reasons.tokenUsed, message: spent }, signal);
    return {};
  }
  const nowMs = Date.now();
  const target = (cluster: Cluster) =>
    toTarget(
      cluster,
      registrationOf(context, cluster).state === 'granted',
      livenessOf(context, cluster, nowMs).state === 'online',
    );
  const decision = decide({
    request: toRequest(request),
    holders: holders.map(target),
    named: named && target(named),
  });
  if (decision.outcome === 'skip') return {};
  if (decision.outcome === 'reject' || decision.outcome === 'wait') {
    await tell(context, request, decision, signal);
    return decision.reason === reasons.identityInUse ? { againMs: silentIn(context, holders[0] ?? named, nowMs) } : {};
  }
  const key = decision.outcome === 'bind' ? decision.target : `${namespace}/${automatic}`;
  const known = context.clusters.get(key);
  if (known !== undefined && isInPlace(context, request, known)) return { cluster: key };
  context.granting.add(key);
  try {
    const cluster = decision.outcome === 'bind' ? known : await createCluster(context, request, automatic, signal);
    if (cluster === undefined) return {};
    await grant(context, request, cluster, signal);
  } finally {
    context.granting.delete(key);
    context.enqueueCluster(key);
  }
  return { cluster: key };
}

/** Why the token of a request does for it no more: it is for one cluster, and another has it. */
function spentToken(context: HubContext, request: ClusterRegistration): string | undefined {
  const namespace = request.metadata.namespace ?? '';
  const name = request.metadata.labels?.[labels.registrationToken];
  const token = name ? context.tokens.get(`${namespace}/${name}`) : undefined;
  if (token === undefined || !isOneUse(token) || request.status?.granted === true) return undefined;
  const other = context.caches.requests
    .list(namespace)
    .map((each) => context.requests.get(keyOf(each)) ?? each)
    .find(
      (each) =>
        each.metadata.labels?.[labels.registrationToken] === name &&
        each.spec?.clientID !== request.spec?.clientID &&
        each.status?.granted === true,
    );
  if (other === undefined) return undefined;
  return `the token ${name ?? ''} is for one cluster, and ${other.status?.clusterName ?? ''} was registered with it`;
}

/** When the agent of a Cluster counts as silent unless it is heard of. */
function silentIn(context: HubContext, cluster: Cluster | undefined, nowMs: number): number {
  const liveness = cluster && livenessOf(context, cluster, nowMs);
  return liveness?.state === 'online' ? liveness.untilMs - nowMs + 1 : durations.hubRetryLast;
}

/** Granted earlier, for this cluster, and its account is still there. */
function isInPlace(context: HubContext, request: ClusterRegistration, cluster: Cluster): boolean {
  const { granted, clusterName } = request.status ?? {};
  if (granted !== true || clusterName !== cluster.metadata.name) return false;
  return context.serviceAccounts.get(accountKey(request, namespaceOf(cluster))) !== undefined;
}

async function createCluster(
  context: HubContext,
  request: ClusterRegistration,
  name: string,
  signal: AbortSignal,
): Promise<Cluster | undefined> {
  const namespace = request.metadata.namespace ?? '';
  const ignore = context.config.current.ignoreClusterRegistrationLabels ?? false;
  const wanted: Cluster = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: {
      name,
      namespace,
      labels: { ...registrationLabels(request.spec?.clusterLabels, { ignore }), [labels.cluster]: name },
      finalizers: [finalizers.cluster],
    },
    spec: { clientID: request.spec?.clientID ?? '' },
  };
  try {
    const made = await context.client.create(Clusters, wanted, { signal, fieldManager: hubFieldManager });
    context.clusters.remember(made);
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await context.client.get(Clusters, { namespace, name }, { signal });
    context.clusters.remember(found);
    // taken meanwhile by another identity: the next look refuses it
    return found.spec?.clientID === request.spec?.clientID ? found : undefined;
  }
}

async function grant(
  context: HubContext,
  request: ClusterRegistration,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  try {
    const namespace = await ensureClusterNamespace(context, cluster, signal);
    const { registrationNamespace, systemNamespace } = context;
    const scope = { request, cluster, namespace, registrationNamespace, systemNamespace };
    const account = accountOf(scope);
    await carryOutGrant(
      context.client,
      {
        rights: [grantRights(scope)],
        beside: readersFor(context, request, cluster).map(
          (reader) => () => context.readers.allow(reader, answerName(request)),
        ),
        // our agent tries again where an original one gives up, so for ours the proof is not worth a request
        checks: isRotating(request) ? [] : grantChecks(scope),
        issue: async (issueSignal) => {
          const [credential] = await Promise.all([
            issueFor(context, request, account, issueSignal ?? signal),
            context.clusterStatus.update(
              keyOf(cluster),
              (current) =>
                clusterStatus(
                  current,
                  {
                    namespace: account.namespace,
                    registration: { state: 'granted' },
                    liveness: livenessOf(context, current, Date.now()),
                  },
                  new Date(),
                ),
              signal,
            ),
          ]);
          return credential;
        },
        publish: (credential) => {
          context.published.set(keyOf(request), Date.now());
          return answer(scope, credential);
        },
      },
      ensureOptions(signal, (object) => isManaged(object)),
    );
    await finish(context, request, cluster, signal);
  } catch (error) {
    if (isMusterError(error)) {
      const reason =
        error.code === 'ALREADY_OWNED'
          ? reasons.nameTaken
          : error.code === 'CONFLICT'
            ? reasons.waitingForNamespace
            : error.code === 'INVALID_ARGUMENT'
              ? reasons.invalidSpec
              : reasons.error;
      await tell(context, request, { outcome: 'wait', reason, message: error.describe() }, signal);
    }
    throw error;
  }
}

/** Deleting a request takes back all that it was granted (revocation-controller.ts). */
async function remove(
  context: HubContext,
  request: ClusterRegistration | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (request === undefined) return;
  const { uid } = request.metadata;
  try {
    await context.client.delete(ClusterRegistrations, parseKey(keyOf(request)), {
      signal,
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
