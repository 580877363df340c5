/** Clusters with a kubeconfig: the hub installs the agent there. A machine of events; no reconcile waits for anything. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { isMusterError } from '../../../api/errors.ts';
import { defaults, labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { importTokenName, randomToken } from '../../../api/fleet/names.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { synthAgent } from '../../../components/fleet/fleet-agent.ts';
import { isConflict } from '../../kube/api-error.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { clusterOf, indexes, needs, requestOf } from './caches.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
import { agentNamespaceOf, agentProps, bootstrapFor, hubAddress, settingsRevision } from './edge-agent.ts';
import { applyAgent, removeAgent } from './edge-apply.ts';
import type { EdgeClients } from './edge-clients.ts';
import { leaveLastingCredential } from './edge-credential.ts';
import { ImportFault, readKubeconfig } from './edge-kubeconfig.ts';
import { explainEdgeError, probeEdge } from './edge-probe.ts';
import { report, reportApplied } from './import-report.ts';
import type { Applied } from './import-state.ts';
import { importNeed, shortUid } from './import-state.ts';
import { endsSoon, ensureImportToken, importValues, renewIn, retire } from './import-token.ts';
import { registrationOf } from './registration-state.ts';

export function createImportController(context: HubContext, edges: EdgeClients): Controller {
  const { caches } = context;
  const controller = createController({
    name: 'import',
    // broken clusters wait for their timeouts side by side, and good ones pass between them
    concurrency: 32,
    backoff: { baseMs: durations.importRetryFirst, maxMs: durations.importRetryLast, jitter: 0.2 },
    reconcile: (key, reconcile) => reconcileImport(context, edges, key, reconcile),
  });
  needs(controller, caches.config, caches.requests, caches.namespaces);
  controller.watch(caches.clusters, {
    predicate: ({ type, object, previous }) =>
      Boolean(object.spec?.kubeConfigSecret) &&
      type !== 'deleted' &&
      (type === 'added' || previous?.metadata.generation !== object.metadata.generation),
  });
  controller.watch(caches.tokens, {
    predicate: ({ type, object, previous }) =>
      type !== 'updated' || object.status?.secretName !== previous?.status?.secretName,
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
  });
  context.config.onChange(() => {
    for (const cluster of caches.clusters.list()) {
      if (cluster.spec?.kubeConfigSecret) controller.enqueue(keyOf(cluster));
    }
  });
  return controller;
}

function clusterOfToken(token: ClusterRegistrationToken): string[] {
  return (token.metadata.ownerReferences ?? [])
    .filter(({ kind, name }) => kind === 'Cluster' && token.metadata.name === importTokenName(name))
    .map(({ name }) => `${token.metadata.namespace ?? ''}/${name}`);
}

async function reconcileImport(
  context: HubContext,
  edges: EdgeClients,
  key: string,
  { signal }: ReconcileContext,
): Promise<Result | void> {
  const cluster = context.clusters.get(key);
  if (cluster === undefined || isDeleting(cluster) || !cluster.spec?.kubeConfigSecret) return;
  if (labels.clusterManagement in (cluster.metadata.labels ?? {})) return;
  try {
    return await importCluster(context, edges, await identify(context, cluster, signal), signal);
  } catch (error) {
    const fault = explainFault(error);
    if (!(fault instanceof ImportFault)) throw error;
    await report(context, key, { status: 'False', reason: fault.reason, message: fault.message }, {}, signal);
    if (!fault.final) throw fault;
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

async function importCluster(
  context: HubContext,
  edges: EdgeClients,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Result | void> {
  checkSettings(context, cluster);
  const config = context.config.current;
  const access = await readKubeconfig(context, cluster, signal);
  const address = hubAddress(config, access);
  if (!address.url) {
    const message =
      'the hub does not know its own address; set apiServerURL in ConfigMap fleet-controller or in the kubeconfig Secret';
    throw new ImportFault(reasons.hubAddressMissing, message, true);
  }
  const props = agentProps(cluster, config);
  const revision = settingsRevision(props, address, access.config.server);
  const registered = registrationOf(context, cluster).state === 'granted';
  const present = context.tokens.get(
    `${cluster.metadata.namespace ?? ''}/${importTokenName(cluster.metadata.name ?? '')}`,
  );
  const need = importNeed(cluster, revision, registered, present?.metadata.uid);
  const client = edges.get(access.config);
  if (!need.apply) return await keepToken(context, present, need.bootstrap, signal);

  const [token] = await Promise.all([
    need.bootstrap ? ensureImportToken(context, cluster, signal) : undefined,
    checkEdge(context, cluster, client, signal),
  ]);
  const values = token && (await importValues(context, token, signal));
  if (token !== undefined && values === undefined) {
    const message = 'waiting for the values of the import token';
    await report(context, keyOf(cluster), { status: 'False', reason: reasons.waitingForToken, message }, {}, signal);
    return; // the token's event comes when it is issued
  }
  const bootstrap = values === undefined ? {} : { bootstrap: bootstrapFor(values, address, cluster) };
  try {
    await removeFromOldNamespace(cluster, client, signal);
    if (props.program === 'fleet') await leaveLastingCredential(context, cluster, client, signal);
    await applyAgent(client, synthAgent({ ...props, ...bootstrap }), signal);
  } catch (error) {
    throw explainEdgeError(error, client.server);
  }
  const applied: Applied = { revision, token: token === undefined ? '' : shortUid(token.metadata.uid ?? '') };
  await reportApplied(context, cluster, applied, address, signal);
  return renewLater(token, need.bootstrap);
}

function checkSettings(context: HubContext, cluster: Cluster): void {
  const namespace = agentNamespaceOf(cluster);
  if (namespace.startsWith('kube-')) {
    throw new ImportFault(reasons.invalidSpec, `spec.agentNamespace: ${namespace} belongs to Kubernetes`, true);
  }
  const mode = context.config.current.agentTLSMode;
  if (mode && mode !== 'system-store' && mode !== 'strict') {
    const message = `agentTLSMode ${mode} in ConfigMap fleet-controller is neither system-store nor strict`;
    throw new ImportFault(reasons.invalidSpec, message, true);
  }
}

/** The cluster answers, lets us in, and is not the hub itself, unless it is the one that is declared to be. */
async function checkEdge(
  context: HubContext,
  cluster: Cluster,
  client: ReturnType<EdgeClients['get']>,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = await probeEdge(client, signal);
  const local = cluster.metadata.namespace === defaults.localNamespace && cluster.metadata.name === 'local';
  if (uid === context.ownUid && !local) {
    const message = `the kubeconfig leads to the hub's own cluster; only Cluster ${defaults.localNamespace}/local may`;
    throw new ImportFault(reasons.selfRegistration, message, true);
  }
}

/** Nothing to apply: only look after the token while no agent has used it. */
async function keepToken(
  context: HubContext,
  token: ClusterRegistrationToken | undefined,
  bootstrap: boolean,
  signal: AbortSignal,
): Promise<Result | void> {
  if (!bootstrap || token === undefined) return;
  if (endsSoon(token, Date.now())) await retire(context, token, signal);
  else return renewLater(token, bootstrap);
}

function renewLater(token: ClusterRegistrationToken | undefined, bootstrap: boolean): Result | undefined {
  if (token === undefined || !bootstrap) return undefined;
  const requeueAfterMs = renewIn(token, Date.now());
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}

/** The agent was moved: the old one goes first, as two would fight for one registration. */
async function removeFromOldNamespace(
  cluster: Cluster,
  client: ReturnType<EdgeClients['get']>,
  signal: AbortSignal,
): Promise<void> {
  const old = cluster.status?.agent?.namespace;
  if (!old || old === agentNamespaceOf(cluster) || cluster.status?.agentDeployedGeneration == null) return;
  await removeAgent(client, synthAgent({ namespace: old, image: 'none' }), signal);
}
