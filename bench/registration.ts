/** One cluster, each leg timed: by token (the agent asks) and by kubeconfig (the hub installs the agent). */
import { setTimeout as pause } from 'node:timers/promises';
import { secretKeys, secretNames } from '../api/fleet/constants.ts';
import type { Cluster } from '../api/fleet/kinds.ts';
import { ClusterRegistrationTokens, Clusters } from '../api/fleet/kinds.ts';
import { Namespaces, Secrets } from '../api/kubernetes/core.ts';
import { Deployments } from '../api/kubernetes/workloads.ts';
import { poll } from '../test/harness/index.ts';
import { countRequests, difference, total } from './api-requests.ts';
import { Edge } from './edge.ts';
import type { BenchOptions } from './options.ts';
import { progress } from './report.ts';
import { type Figures, summarize } from './statistics.ts';
import { type Target, openTarget, systemNamespace, workspace } from './target.ts';
import { makeToken } from './token.ts';
import { firstMatch } from './watching.ts';

/** After the last leg: status updates and Events that belong to the registration are counted, too. */
const afterglowMs = 1000;

export async function registration(options: BenchOptions): Promise<object> {
  const target = await openTarget(options);
  const edge = await Edge.start(options.agent);
  try {
    const byToken: Figures[] = [];
    const byKubeconfig: Figures[] = [];
    await agentInitiated(target, edge, 'warm-up'); // code is compiled, connections are there: not measured
    for (let run = 1; run <= options.runs; run++) {
      byToken.push(await agentInitiated(target, edge, `${run}`));
      progress(`run ${run}, by token: ${JSON.stringify(byToken.at(-1))}`);
      byKubeconfig.push(await managerInitiated(target, edge, `${run}`));
      progress(`run ${run}, by kubeconfig: ${JSON.stringify(byKubeconfig.at(-1))}`);
    }
    return {
      benchmark: 'registration',
      hub: options.hub === undefined ? 'muster' : target.config.server,
      runs: options.runs,
      agentInitiated: summarize(byToken),
      managerInitiated: summarize(byKubeconfig),
    };
  } finally {
    await edge.close();
    await target.close();
  }
}

const uniqueRun = Date.now().toString(36);

async function agentInitiated(target: Target, edge: Edge, run: string): Promise<Figures> {
  const name = `bench-${uniqueRun}-token-${run}`;
  const token = await makeToken(target, name);
  await edge.clean();
  await edge.apply(token.values, name);
  const stored = await firstMatch(
    edge.client,
    Secrets,
    { namespace: systemNamespace, fieldSelector: `metadata.name=${secretNames.agent}` },
    () => true,
  );
  const seen = await watchHeartbeat(target, ({ spec }) => spec?.clientID === name);
  const before = await countRequests(target.config);
  const agent = await edge.startAgent();
  try {
    const [registered, heartbeat] = await Promise.race([
      Promise.all([stored.found, seen.found]),
      agent.process.failure(),
    ]);
    const figures = {
      tokenMs: token.ms,
      registeredMs: registered.at - agent.at,
      lastSeenMs: heartbeat.at - agent.at,
      requests: await requestsSince(target, before),
    };
    return figures;
  } finally {
    await agent.process.stop();
    await removeCluster(target, ({ spec }) => spec?.clientID === name);
    await target.admin.delete(ClusterRegistrationTokens, { namespace: workspace, name });
  }
}

async function managerInitiated(target: Target, edge: Edge, run: string): Promise<Figures> {
  const name = `bench-${uniqueRun}-kubeconfig-${run}`;
  const secretName = `${name}-kubeconfig`;
  await edge.clean();
  const applied = await firstMatch(
    edge.client,
    Deployments,
    { namespace: systemNamespace, fieldSelector: 'metadata.name=fleet-agent' },
    () => true,
  );
  const seen = await watchHeartbeat(target, ({ metadata }) => metadata.name === name);
  const before = await countRequests(target.config);
  const start = performance.now();
  await target.admin.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: workspace, name: secretName },
    stringData: { [secretKeys.kubeconfig]: edge.plane.kubeconfig },
  });
  await target.admin.create(Clusters, {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: { namespace: workspace, name },
    spec: { kubeConfigSecret: secretName },
  });
  const deployed = edge.runDeployed();
  try {
    const deployment = await Promise.race([applied.found, deployed.failure]);
    const heartbeat = await Promise.race([seen.found, deployed.failure]);
    return {
      agentAppliedMs: deployment.at - start,
      lastSeenMs: heartbeat.at - start,
      requests: await requestsSince(target, before),
    };
  } finally {
    await deployed.stop();
    await removeCluster(target, ({ metadata }) => metadata.name === name);
    await target.admin.delete(Secrets, { namespace: workspace, name: secretName });
  }
}

const watchHeartbeat = (target: Target, isIt: (cluster: Cluster) => boolean) =>
  firstMatch(target.admin, Clusters, { namespace: workspace }, (cluster) =>
    Boolean(isIt(cluster) && cluster.status?.agent?.lastSeen),
  );

async function requestsSince(target: Target, before: ReadonlyMap<string, number>): Promise<number> {
  await pause(afterglowMs);
  const added = difference(before, await countRequests(target.config));
  progress(`requests: ${[...added].map(([what, count]) => `${count} ${what}`).join(', ')}`);
  return total(added);
}

/** So that the edge is free for the next run, and nothing of this one is counted in it. A hub that does not finish a deletion does not stop the benchmark. */
async function removeCluster(target: Target, isIt: (cluster: Cluster) => boolean): Promise<void> {
  const { admin } = target;
  const cluster = (await admin.list(Clusters, { namespace: workspace })).items.find(isIt);
  if (cluster === undefined) return;
  const key = { namespace: workspace, name: cluster.metadata.name ?? '' };
  await admin.delete(Clusters, key);
  try {
    const gone = async (): Promise<true | undefined> =>
      (await admin.find(Clusters, key)) === undefined ? true : undefined;
    await poll(gone, { what: `Cluster ${key.name} to go`, limitMs: 60_000 });
    const name = cluster.status?.namespace ?? '';
    const emptied = async (): Promise<true | undefined> =>
      name === '' || (await admin.find(Namespaces, { name })) === undefined ? true : undefined;
    await poll(emptied, { what: `namespace ${name} to go`, limitMs: 60_000 });
  } catch (error) {
    progress(error instanceof Error ? error.message : String(error));
  }
}
