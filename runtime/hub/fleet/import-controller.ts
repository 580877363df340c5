/** Clusters with a kubeconfig: the hub installs the agent there. A machine of events; no reconcile waits for anything. */
import { conditionTypes, isTrue, reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { isMusterError } from '../../../api/errors.ts';
import { labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { importTokenName, randomToken } from '../../../api/fleet/names.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isConflict } from '../../kube/api-error.ts';
import type { Controller, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { clusterOf, indexes, needs, requestOf } from './caches.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
import type { EdgeClients } from './edge-clients.ts';
import { ImportFault } from './edge-kubeconfig.ts';
import { leftNamespaces } from './edge-move.ts';
import { createAwaitedTokens } from './import-awaited.ts';
import type { ImportTools } from './import-cluster.ts';
import { importCluster } from './import-cluster.ts';
import { report } from './import-report.ts';
import { isImported } from './local-cluster.ts';
import { createSlots } from './slots.ts';
import { sourceMarks } from './source-marks.ts';

export function createImportController(context: HubContext, edges: EdgeClients): Controller {
  const { caches } = context;
  const slots = createSlots(32);
  const tokens = createAwaitedTokens(context);
  const controller = createController({
    name: 'import',
    // all that wait for an answer do it side by side, and good ones pass between the broken ones
    concurrency: 1024,
    backoff: { baseMs: durations.importRetryFirst, maxMs: durations.importRetryLast, jitter: 0.2 },
    reconcile: (key, { signal, stopping }) =>
      slots.run((outside) => reconcileImport(context, { edges, tokens, outside, stopping }, key, signal), signal),
  });
  needs(controller, caches.config, caches.requests, caches.namespaces);
  controller.watch(caches.clusters, {
    predicate: ({ type, object, previous }) =>
      type !== 'deleted' &&
      (type === 'added' ||
        previous?.metadata.generation !== object.metadata.generation ||
        // a rule found its kubeconfig elsewhere
        sourceMarks(previous).join() !== sourceMarks(object).join() ||
        // an agent that moved has arrived, and the old one can go
        (previous?.status?.agent?.namespace !== object.status?.agent?.namespace && leftNamespaces(object).length > 0) ||
        // its agent fell silent: why, its cluster may know
        (wasHeard(previous) && !wasHeard(object))) &&
      isImported(context, object),
  });
  controller.watch(caches.tokens, {
    predicate: ({ type, object, previous }) =>
      type === 'deleted' || (object.status?.secretName !== previous?.status?.secretName && !tokens.has(keyOf(object))),
    map: ({ object }) => clusterOfToken(object),
  });
  // a registration that ended leaves an agent that needs a new bootstrap Secret
  controller.watch(caches.serviceAccounts, {
    predicate: ({ type, object }) => type === 'deleted' && requestOf(object) !== undefined,
    map: ({ object }) => {
      const key = clusterOf(object);
      return key === undefined ? [] : [key];
    },
  });
  context.secrets.subscribe(({ object, initial }) => {
    if (initial) return;
    const key = keyOf(object);
    for (const cluster of caches.clusters.byIndex(indexes.kubeconfig, key)) controller.enqueue(keyOf(cluster));
    const pulls = context.config.current.imagePullSecrets ?? [];
    if (object.metadata.namespace !== context.systemNamespace) return;
    if (pulls.some(({ name }) => name === object.metadata.name)) enqueueAll();
  });
  const enqueueAll = (): void => {
    for (const cluster of caches.clusters.list()) {
      if (isImported(context, cluster)) controller.enqueue(keyOf(cluster));
    }
  };
  context.config.onChange(enqueueAll);
  return controller;
}

const wasHeard = (cluster: Cluster | undefined): boolean => isTrue(cluster?.status?.conditions, conditionTypes.online);

function clusterOfToken(token: ClusterRegistrationToken): string[] {
  return (token.metadata.ownerReferences ?? [])
    .filter(({ kind, name }) => kind === 'Cluster' && token.metadata.name === importTokenName(name))
    .map(({ name }) => `${token.metadata.namespace ?? ''}/${name}`);
}

async function reconcileImport(
  context: HubContext,
  tools: ImportTools,
  key: string,
  signal: AbortSignal,
): Promise<Result | void> {
  const cluster = context.clusters.get(key);
  if (cluster === undefined || isDeleting(cluster) || !isImported(context, cluster)) return;
  if (labels.clusterManagement in (cluster.metadata.labels ?? {})) return;
  try {
    return await importCluster(context, tools, await identify(context, cluster, signal), signal);
  } catch (error) {
    const fault = explainFault(error);
    if (!(fault instanceof ImportFault)) throw error;
    await report(context, key, { status: 'False', reason: fault.reason, message: fault.message }, {}, signal);
    if (!fault.final) throw fault;
  } finally {
    tools.tokens.release(`${cluster.metadata.namespace ?? ''}/${importTokenName(cluster.metadata.name ?? '')}`);
  }
}

function explainFault(error: unknown): unknown {
  if (isMusterError(error, 'INVALID_ARGUMENT')) return new ImportFault(reasons.invalidSpec, error.describe(), true);
  return error;
}

/** An imported cluster whose user named no clientID gets a random one: it cannot be guessed, so it cannot be taken over. */
async function identify(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<Cluster> {
  const key = parseKey(keyOf(cluster));
  const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
  let current = cluster;
  while (!current.spec?.clientID) {
    const { resourceVersion } = current.metadata;
    const patch = { metadata: { resourceVersion }, spec: { clientID: randomToken() } };
    try {
      current = await context.client.patch(Clusters, key, patch, options);
    } catch (error) {
      // a new Cluster gets its finalizer and status at the same time
      if (!isConflict(error)) throw error;
      current = await context.client.get(Clusters, key, { signal });
    }
    context.clusters.remember(current);
  }
  return current;
}
