/**
 * The bare API's ceiling for imports by rule: what Cluster API, the hub and the agent ask of the hub's API server and of
 * the cluster for one of them, built by the hub's own functions, with their identities, order and parallelism, but
 * without caches, queues or controllers. Left out, which makes the ceiling higher: Events, and looks that come too early.
 */
import type { ClusterAPICluster } from '../api/cluster-api/cluster.ts';
import { reasons } from '../api/conditions.ts';
import { durations } from '../api/durations.ts';
import { annotations, apiVersion, defaults, labels } from '../api/fleet/constants.ts';
import type { BootstrapValues } from '../api/fleet/bootstrap-values.ts';
import type { Cluster } from '../api/fleet/kinds.ts';
import { ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../api/fleet/kinds.ts';
import { clusterNamespace, importTokenName, tokenServiceAccountName } from '../api/fleet/names.ts';
import { Secrets, ServiceAccounts } from '../api/kubernetes/core.ts';
import { RoleBindings, Roles } from '../api/kubernetes/rbac.ts';
import { registrationFinalizer } from '../api/muster/constants.ts';
import type { RegistrationRule } from '../api/muster/kinds.ts';
import { synthAgent } from '../components/fleet/fleet-agent.ts';
import { sendHeartbeat } from '../runtime/agent/fleet/heartbeat.ts';
import { clusterAPIKubeconfig, fromClusterAPI } from '../runtime/hub/cluster-api/cluster-api-source.ts';
import { newCluster } from '../runtime/hub/cluster-api/fleet-cluster.ts';
import { registrationFor } from '../runtime/hub/cluster-api/registration.ts';
import { isFault } from '../runtime/hub/cluster-api/source.ts';
import type { ClusterView } from '../runtime/hub/fleet/cluster-status.ts';
import { clusterStatus } from '../runtime/hub/fleet/cluster-status.ts';
import type { CredentialReaders } from '../runtime/hub/fleet/credential-readers.ts';
import { bootstrapFor } from '../runtime/hub/fleet/edge-agent.ts';
import { applyAgent } from '../runtime/hub/fleet/edge-apply.ts';
import { probeEdge } from '../runtime/hub/fleet/edge-probe.ts';
import { appliedReport, importStatus } from '../runtime/hub/fleet/import-report.ts';
import { tokenObjects, tokenOfAnnotation, valuesSecret } from '../runtime/hub/fleet/token-objects.ts';
import { issuedStatus } from '../runtime/hub/fleet/token-report.ts';
import { isForbidden } from '../runtime/kube/api-error.ts';
import { pause } from '../runtime/kube/backoff.ts';
import { createClient } from '../runtime/kube/create-client.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';
import { parseKubeconfig } from '../runtime/kube/kubeconfig.ts';
import { ownerReference } from '../runtime/kube/owner.ts';
import { clusterAPIFinalizer } from '../test/support/played-cluster-api.ts';
import { connectAgent } from '../test/support/simulated-agent.ts';
import { bareGrant, bareReaders, bareStatus, elsewhere } from './ceiling.ts';
import { requestOf } from './request.ts';
import type { RulesBench } from './rules-measure.ts';
import { answersNamespace, systemNamespace, workspace } from './target.ts';

type BareImports = Pick<RulesBench, 'target' | 'edges' | 'capi' | 'rule' | 'workers'>;

/** Imports per second, from the first Cluster of Cluster API to the last heartbeat. No hub and no played agent may run. */
export async function bareImports(bare: BareImports, prefix: string, count: number): Promise<number> {
  const { target, workers } = bare;
  const readers = bareReaders(target.hub);
  const start = performance.now();
  let last = start;
  await inParallel(count, workers, async (index) => {
    const reported = await bareImport(bare, readers, `${prefix}-${index}`);
    last = Math.max(last, reported);
  });
  return (count * 1000) / (last - start);
}

/** One of them; resolves to the time of its heartbeat. */
async function bareImport(bare: BareImports, readers: CredentialReaders, name: string): Promise<number> {
  const { target, edges, capi, rule } = bare;
  const { hub } = target;
  await capi.provision(name, edges.kubeconfig(name), { className: 'bench' });
  const mark = { metadata: { finalizers: [clusterAPIFinalizer, registrationFinalizer] } };
  const held = await hub.patch(capi.type, { namespace: capi.namespace, name }, mark, { type: 'merge' });
  const created = await hub.create(Clusters, wantedFor(rule, held));
  const secret = await hub.get(Secrets, { namespace: capi.namespace, name: `${name}-kubeconfig` });
  const { values, account } = await bareToken(bare, readers, created);
  const cluster = await bareInstall(bare, created, secret.data?.['value'] ?? '', values);
  return await bareRegistration(bare, readers, cluster, values, account);
}

/** What the rule makes of it, marked as another hub's affair. */
function wantedFor(rule: RegistrationRule, held: ClusterAPICluster): Cluster {
  const source = fromClusterAPI(held);
  const target = { workspace, name: source.name };
  const registration = registrationFor(rule, source, target, clusterAPIKubeconfig(source));
  if (isFault(registration)) throw new Error(registration.message);
  const { metadata, ...rest } = newCluster(registration, '');
  return { ...rest, metadata: { ...metadata, labels: { ...metadata.labels, ...elsewhere } } };
}

/** The import token, its account and its values. */
async function bareToken({ target }: BareImports, readers: CredentialReaders, cluster: Cluster) {
  const { hub, config } = target;
  const name = importTokenName(cluster.metadata.name ?? '');
  const place = { namespace: workspace, name };
  const token = await hub.create(ClusterRegistrationTokens, {
    apiVersion,
    kind: 'ClusterRegistrationToken',
    metadata: { ...place, ownerReferences: [ownerReference(Clusters, cluster)] },
    spec: { ttl: defaults.importTokenTtl },
  });
  const account = { namespace: workspace, name: tokenServiceAccountName({ name, uid: token.metadata.uid ?? '' }) };
  const objects = tokenObjects(token, account);
  await Promise.all([
    hub.create(ServiceAccounts, objects.serviceAccount),
    hub.create(Roles, objects.role),
    hub.create(RoleBindings, objects.roleBinding),
  ]);
  const { token: bearer } = await hub.createToken(account, { expirationSeconds: durations.importTokenTtl / 1000 });
  const values: BootstrapValues = {
    clusterNamespace: workspace,
    apiServerURL: config.server,
    apiServerCA: String(config.ca ?? ''),
    token: bearer,
    tokenName: name,
    systemRegistrationNamespace: answersNamespace,
    systemNamespace,
  };
  const notes = { [annotations.appliedHash]: '0'.repeat(32), [tokenOfAnnotation]: token.metadata.uid ?? '' };
  await Promise.all([hub.create(Secrets, valuesSecret(token, values, notes)), readers.prepare(account)]);
  await bareStatus(hub, ClusterRegistrationTokens, token, issuedStatus(token, Date.now() + durations.importTokenTtl));
  await hub.get(Secrets, place);
  return { values, account };
}

/** The look at the cluster, the agent's manifests there, and what the hub notes of it. */
async function bareInstall(
  { target }: BareImports,
  cluster: Cluster,
  kubeconfig: string,
  values: BootstrapValues,
): Promise<Cluster> {
  const { signal } = new AbortController();
  const config = parseKubeconfig(Buffer.from(kubeconfig, 'base64'), { policy: 'hub' });
  const edge = createClient(config, { userAgent: 'muster-bench', maxConnections: 8 });
  const hubAddress = { url: values.apiServerURL, ca: values.apiServerCA };
  try {
    await probeEdge(edge, signal);
    const bootstrap = bootstrapFor(values, hubAddress, cluster);
    const clientID = cluster.spec?.clientID ?? '';
    const manifests = synthAgent({ image: 'muster:bench', clientID, hubAddress, bootstrap });
    await applyAgent(edge, manifests, false, signal);
  } finally {
    await edge.close();
  }
  const applied = { revision: '0'.repeat(12), token: '0'.repeat(8) };
  const { condition, fields } = appliedReport(cluster, applied, {}, hubAddress);
  const first = clusterStatus(cluster, notAsked(cluster), new Date());
  return await bareStatus(
    target.hub,
    Clusters,
    cluster,
    importStatus({ ...cluster, status: first }, condition, fields),
  );
}

/** Before its agent asks. */
function notAsked({ metadata }: Cluster): ClusterView {
  const namespace = clusterNamespace(workspace, metadata.name ?? '');
  const registration = { state: 'waiting', reason: reasons.waitingForAgent, message: 'no agent has asked' } as const;
  return { namespace, registration, liveness: { state: 'never' } };
}

/** The agent asks, is answered, reports; and the hub notes that. */
async function bareRegistration(
  { target }: BareImports,
  readers: CredentialReaders,
  cluster: Cluster,
  values: BootstrapValues,
  account: { namespace: string; name: string },
): Promise<number> {
  const { hub } = target;
  const key = { namespace: workspace, name: cluster.metadata.name ?? '' };
  const asked = connectAgent(values, values.token);
  try {
    const named = { ...elsewhere, [labels.registrationToken]: values.tokenName };
    const request = await asked.create(
      ClusterRegistrations,
      requestOf(named, { clientID: cluster.spec?.clientID ?? '' }),
    );
    let answer = '';
    const { token, granted, finish } = await bareGrant(hub, request, cluster, async (name) => {
      answer = name;
      await readers.allow(account, name);
    });
    const look = () => asked.get(Secrets, { namespace: answersNamespace, name: answer });
    await Promise.all([onceAllowed(look), finish()]);
    const agent = connectAgent(values, token);
    try {
      await onceAllowed(() => sendHeartbeat(agent, { cluster: key, agentNamespace: defaults.agentNamespace }));
    } finally {
      await agent.close();
    }
    const reported = performance.now();
    const liveness = { state: 'online', untilMs: Date.now() + durations.agentCheckinInterval } as const;
    const view = { namespace: granted.status?.namespace ?? '', registration: { state: 'granted' }, liveness } as const;
    await bareStatus(hub, Clusters, granted, clusterStatus(granted, view, new Date()));
    return reported;
  } finally {
    await asked.close();
  }
}

/** Rights are effective some milliseconds after they are written. */
async function onceAllowed<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isForbidden(error)) throw error;
    }
    await pause(durations.grantVerifyFirst);
  }
}
