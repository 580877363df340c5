/** The end of a Cluster: agent, token, registrations, namespace, and only then the object itself. */
import { conditionTypes, reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { finalizers } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import {
  BundleDeployments,
  ClusterRegistrations,
  ClusterRegistrationTokens,
  Clusters,
} from '../../../api/fleet/kinds.ts';
import { importTokenName } from '../../../api/fleet/names.ts';
import { Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isNotFound } from '../../kube/api-error.ts';
import type { Result } from '../../kube/controller.ts';
import { hasFinalizer, removeFinalizer } from '../../kube/finalizers.ts';
import type { DetachProgress } from '../../registration/detach.ts';
import { done, runDetach } from '../../registration/detach.ts';
import { removeAgentBundle } from './agent-bundle.ts';
import { clusterOf, identityKey, indexes } from './caches.ts';
import { writeCondition } from './cluster-condition.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import type { EdgeCleaner } from './edge-cleaner.ts';
import { revokeGrant } from './revocation.ts';
import type { Outside } from './slots.ts';

/** What ends by itself. */
const passing: readonly string[] = [reasons.deleting, reasons.downstreamCleared];

/**
 * One step after the other; what a step waits for is told in condition Detached. `outside`: where it is waited for the
 * cluster itself.
 */
export async function detachCluster(
  context: HubContext,
  cleaners: readonly EdgeCleaner[],
  cluster: Cluster,
  outside: Outside,
  signal: AbortSignal,
): Promise<Result | void> {
  if (!hasFinalizer(cluster, finalizers.cluster)) return;
  const waiting = await runDetach([
    ...cleaners.map(({ name, clean }) => ({ name, run: () => outside(() => clean(cluster, signal)) })),
    { name: 'import token', run: () => removeImportToken(context, cluster, signal) },
    { name: 'agent bundle', run: () => removeAgentBundle(context, cluster, signal).then(() => done) },
    { name: 'registrations', run: () => removeRegistrations(context, cluster, signal) },
    { name: 'namespace', run: () => removeNamespace(context, cluster, signal) },
  ]);
  if (waiting !== undefined) {
    const { message, reason, againMs } = waiting.progress;
    const condition = { type: conditionTypes.detached, status: 'False', reason, message };
    const written = await writeCondition(context, keyOf(cluster), condition, signal);
    if (written !== undefined && written.before !== written.after && !passing.includes(reason)) {
      context.events.event(cluster, 'Warning', reason, message);
    }
    return againMs === undefined ? undefined : { requeueAfterMs: againMs };
  }
  await release(context, cluster, signal);
}

async function removeImportToken(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<DetachProgress> {
  const { namespace = '', name = '', uid } = cluster.metadata;
  const token = context.tokens.get(`${namespace}/${importTokenName(name)}`);
  const ours = token?.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
  if (token !== undefined && ours && token.metadata.deletionTimestamp === undefined) {
    await context.client.delete(ClusterRegistrationTokens, parseKey(keyOf(token)), { signal });
  }
  return done;
}

async function removeRegistrations(
  context: HubContext,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<DetachProgress> {
  const { namespace = '', name = '' } = cluster.metadata;
  const key = keyOf(cluster);
  const clientID = cluster.spec?.clientID;
  const sharing = clientID ? context.requests.byIndex(indexes.identity, identityKey(namespace, clientID)) : [];
  // a request of this identity that is not granted waits for the next Cluster of its name: it stays
  const requests = [
    ...context.requests.byIndex(indexes.cluster, key),
    ...sharing.filter((r) => r.status?.clusterName === name),
  ];
  const keys = new Set(requests.map(keyOf));
  await Promise.all(
    [...keys].map(async (request) => {
      await context.client.delete(ClusterRegistrations, parseKey(request), { signal });
      await revokeGrant(context, request, signal);
    }),
  );
  await removeAnswers(context, key, signal);
  return done;
}

async function removeAnswers(context: HubContext, key: string, signal: AbortSignal): Promise<void> {
  const answers = context.caches.credentials.byIndex(indexes.cluster, key);
  await Promise.all(answers.map((answer) => context.client.delete(Secrets, parseKey(keyOf(answer)), { signal })));
  if (answers.length > 0) await context.readers.revoke(new Set(answers.map(({ metadata }) => metadata.name ?? '')));
}

async function removeNamespace(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<DetachProgress> {
  const name = namespaceOf(cluster);
  // the last step: a rule lets the cluster's source go now
  const waiting: DetachProgress = {
    state: 'waiting',
    reason: reasons.downstreamCleared,
    message: `waiting until the namespace ${name} is gone`,
  };
  const live = await context.client.find(Namespaces, { name }, { signal });
  if (live === undefined || clusterOf(live) !== keyOf(cluster)) return done;
  if (live.metadata.deletionTimestamp === undefined) {
    const { uid } = live.metadata;
    await context.client.delete(Namespaces, { name }, { signal, ...(uid ? { preconditions: { uid } } : {}) });
  }
  await releaseBundleDeployments(context, name, signal);
  return waiting;
}

/** The finalizer of a BundleDeployment is the hub's own; left in place it would keep the namespace for ever. */
async function releaseBundleDeployments(context: HubContext, namespace: string, signal: AbortSignal): Promise<void> {
  const { items } = await context.client.list(BundleDeployments, { namespace, signal });
  await Promise.all(
    items.map(async (item) => {
      try {
        await removeFinalizer(context.client, BundleDeployments, item, finalizers.bundleDeployment, { signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }),
  );
}

async function release(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<void> {
  try {
    await removeFinalizer(context.client, Clusters, cluster, finalizers.cluster, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A Cluster that went without its finalizer (removed by hand): what is left of it goes, once its absence is confirmed. */
export async function removeLeftovers(context: HubContext, key: string, signal: AbortSignal): Promise<Result | void> {
  const namespaces = context.caches.namespaces.byIndex(indexes.cluster, key);
  const requests = context.caches.requests.byIndex(indexes.cluster, key);
  const answers = context.caches.credentials.byIndex(indexes.cluster, key);
  if (namespaces.length + requests.length + answers.length === 0) return;
  if ((await context.client.find(Clusters, parseKey(key), { signal })) !== undefined) {
    return { requeueAfterMs: durations.hubRetryFirst };
  }
  await Promise.all(
    requests.map(async (request) => {
      await context.client.delete(ClusterRegistrations, parseKey(keyOf(request)), { signal });
      await revokeGrant(context, keyOf(request), signal);
    }),
  );
  await removeAnswers(context, key, signal);
  for (const { metadata } of namespaces) {
    const { name = '', uid, deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) continue;
    await context.client.delete(Namespaces, { name }, { signal, ...(uid ? { preconditions: { uid } } : {}) });
    await releaseBundleDeployments(context, name, signal);
  }
}
