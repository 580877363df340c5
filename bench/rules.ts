/** Registration by rule: clusters of Cluster API come and go in one go, beside broken ones, and the hub ends in the middle. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import process from 'node:process';
import { Clusters } from '../api/fleet/kinds.ts';
import { registrationFinalizer } from '../api/muster/constants.ts';
import { clusterAPIDefinition } from '../runtime/hub/cluster-api/testdata/definitions.ts';
import { poll } from '../test/harness/index.ts';
import { Authority } from '../test/harness/pki/authority.ts';
import { playAgents } from '../test/support/played-agents.ts';
import type { PlayedAgents } from '../test/support/played-agents.ts';
import {
  createNamespace,
  createRule,
  installDefinition,
  PlayedClusterAPI,
} from '../test/support/played-cluster-api.ts';
import type { SmallEdges } from '../test/support/small-edges.ts';
import { shortKubeconfig, startSmallEdges } from '../test/support/small-edges.ts';
import { countRequests } from './api-requests.ts';
import { settle } from './bursts.ts';
import type { BenchOptions } from './options.ts';
import { cpuMs, rssMb } from './process-usage.ts';
import { progress } from './report.ts';
import { percentile, summarize } from './statistics.ts';
import type { Figures } from './statistics.ts';
import type { Target } from './target.ts';
import { openTarget, workspace } from './target.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';

const namespace = 'bench-sources';
const limitMs = 600_000;

export async function rules(options: BenchOptions): Promise<object> {
  if (options.hub !== undefined) throw new Error('rules measures our own hub: leave out --hub');
  const target = await openTarget(options);
  const authority = Authority.create('edges');
  const { cert, key } = authority.issue({ commonName: 'edges', hosts: ['127.0.0.1'], usages: ['server'] });
  const edges = await startSmallEdges({ cert, key, ca: authority.cert });
  try {
    await target.startHub();
    progress('installing Cluster API’s definition and a rule');
    await createNamespace(target.admin, namespace, { 'muster.dev/source': 'true' });
    await installDefinition(target.admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
    await createRule(target.admin, 'bench', { registration: { workspace } });
    const agents = playAgents(edges);
    const bench = {
      target,
      edges,
      agents,
      capi: new PlayedClusterAPI(target.admin, namespace),
      workers: options.workers,
    };
    await measure(bench, 'warm', Math.min(options.count, 20), {});
    const figures: Figures[] = [];
    for (let run = 1; run <= options.runs; run++) {
      figures.push(await oneRun(bench, options, run));
      progress(`run ${run} of ${options.runs}: ${JSON.stringify(figures.at(-1))}`);
    }
    const { count, broken, runs } = options;
    return { benchmark: 'rules', count, broken, runs, failures: agents.failures.length, ...summarize(figures, 2) };
  } finally {
    await edges.close();
    await target.close();
  }
}

interface Bench {
  readonly target: Target;
  readonly edges: SmallEdges;
  readonly agents: PlayedAgents;
  readonly capi: PlayedClusterAPI;
  readonly workers: number;
}

/** Alone, beside broken ones, and with a hub that ends in the middle of coming and of going. */
async function oneRun(bench: Bench, { count, broken }: BenchOptions, run: number): Promise<Figures> {
  const alone = await measure(bench, `alone-${run}`, count, {});
  const bad = await breakSome(bench, `bad-${run}`, broken);
  const beside = await measure(bench, `beside-${run}`, count, {});
  await bad.remove();
  const restarted = await measure(bench, `restarted-${run}`, count, { restart: true });
  return {
    perSecond: alone.perSecond,
    p50Ms: alone.p50Ms,
    p95Ms: alone.p95Ms,
    goneMs: alone.goneMs,
    tidiedMs: alone.tidiedMs,
    requestsPerCluster: alone.requestsPerCluster,
    hubCpuMsPerCluster: alone.hubCpuMsPerCluster,
    driverCpuMsPerCluster: alone.driverCpuMsPerCluster,
    hubRssMb: rssMb(bench.target.pids()) ?? null,
    besideBrokenPerSecond: beside.perSecond,
    besideBrokenP95Ms: beside.p95Ms,
    ofAlone: beside.perSecond / alone.perSecond,
    connectionsPerBroken: bad.connections(),
    restartedRegisteredMs: restarted.registeredMs,
    restartedGoneMs: restarted.goneMs,
    left: alone.left + beside.left + restarted.left,
  };
}

interface Measured {
  readonly registeredMs: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly goneMs: number;
  readonly tidiedMs: number;
  readonly requestsPerCluster: number;
  readonly hubCpuMsPerCluster: number | null;
  readonly driverCpuMsPerCluster: number | null;
  readonly left: number;
}

/** `count` clusters come in one go and are ready; each counts until its agent has reported. Then all go in one go. */
async function measure(
  { target, edges, agents, capi, workers }: Bench,
  prefix: string,
  count: number,
  { restart = false }: { restart?: boolean },
): Promise<Measured> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const started: number[] = [];
  const [cpuBefore, driverBefore] = [cpuMs(target.pids()), cpuMs([process.pid])];
  const requestsBefore = await countRequests(target.config);
  const begin = performance.now();
  const reported = (): number => {
    const [failure] = agents.failures;
    if (failure !== undefined) throw failure as Error;
    return names.filter((name) => agents.reported.has(name)).length;
  };
  const coming = inParallel(count, workers, async (index) => {
    started[index] = performance.now();
    await capi.provision(names[index] ?? '', edges.kubeconfig(names[index] ?? ''), { className: 'bench' });
  });
  if (restart) {
    await until(() => reported() >= count / 4, `a quarter of ${prefix}`);
    await again(target);
  }
  await coming;
  await Promise.race([until(() => reported() === count, `all agents of ${prefix}`), target.failure()]);
  const registeredMs = performance.now() - begin;
  progress(`${prefix}: ${count} registered after ${registeredMs.toFixed(0)} ms`);
  const times = names.map((name, index) => (agents.reported.get(name) ?? Number.NaN) - (started[index] ?? 0));
  const [cpuAfter, driverAfter] = [cpuMs(target.pids()), cpuMs([process.pid])];
  const requests = await settle(target, requestsBefore);
  const going = performance.now();
  await inParallel(count, workers, (index) => capi.delete(names[index] ?? ''));
  await goAll({ target, edges, agents, capi, workers }, names, restart);
  const goneMs = performance.now() - going;
  const left = agentsLeft(edges, names);
  await tidied(target, names);
  return {
    registeredMs,
    perSecond: (count / registeredMs) * 1000,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    goneMs,
    tidiedMs: performance.now() - going,
    requestsPerCluster: requests / count,
    hubCpuMsPerCluster: restart ? null : each(cpuBefore, cpuAfter, count),
    driverCpuMsPerCluster: each(driverBefore, driverAfter, count),
    left,
  };
}

function each(before: number | undefined, after: number | undefined, count: number): number | null {
  return before === undefined || after === undefined ? null : (after - before) / count;
}

/** Plays what Cluster API does with clusters that the hub has let go. */
async function goAll({ target, capi, workers }: Bench, names: readonly string[], restart: boolean): Promise<void> {
  const mine = new Set(names);
  let restarted = !restart;
  const look = async (): Promise<true | undefined> => {
    const { items } = await target.admin.list(capi.type, { namespace: capi.namespace });
    const left = items.filter(({ metadata }) => mine.has(metadata.name ?? ''));
    const free = left.filter(({ metadata }) => !metadata.finalizers?.includes(registrationFinalizer));
    if (!restarted && free.length > 0) {
      restarted = true;
      await again(target);
    }
    await inParallel(free.length, workers, (index) => capi.tearDown(free[index]?.metadata.name ?? ''));
    return left.length === 0 ? true : undefined;
  };
  await poll(look, { what: 'all clusters to be gone', limitMs });
}

async function again(target: Target): Promise<void> {
  await target.stopHub();
  await target.startHub();
}

/** Agents downstream that should not be there any more when their source is let go. */
function agentsLeft(edges: SmallEdges, names: readonly string[]): number {
  return names.filter((name) => [...edges.edge(name).objects.keys()].some((path) => path.includes('fleet'))).length;
}

/** Resolves when nothing of these clusters is left on the hub; a source does not wait for that. */
async function tidied(target: Target, names: readonly string[]): Promise<void> {
  const mine = new Set(names);
  const look = async (): Promise<true | undefined> => {
    const { items } = await target.admin.list(Clusters, { namespace: workspace });
    return items.some(({ metadata }) => mine.has(metadata.name ?? '')) ? undefined : true;
  };
  await poll(look, { what: 'the Clusters to be gone', limitMs });
}

/** Sources that never get ready, and kubeconfigs of servers that refuse, hang, or are not trusted; a quarter of each. */
async function breakSome(
  { target, edges, capi, workers }: Bench,
  prefix: string,
  broken: number,
): Promise<{ remove(): Promise<void>; connections(): number | null }> {
  const foreign = Authority.create('foreign').cert;
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const hanging = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const kubeconfigs = [
    shortKubeconfig('https://127.0.0.1:1', foreign),
    shortKubeconfig(hanging, foreign),
    edges.kubeconfig('untrusted', 'x', foreign),
    undefined,
  ];
  const names = Array.from({ length: broken }, (_, index) => `${prefix}-${index}`);
  await inParallel(broken, workers, async (index) => {
    const kubeconfig = kubeconfigs[index % 4];
    if (kubeconfig === undefined) await capi.create(names[index] ?? '');
    else await capi.provision(names[index] ?? '', kubeconfig);
  });
  const hangs = names.filter((_, index) => index % 4 === 1).length;
  await until(() => sockets.size >= hangs, 'all broken ones to be tried');
  return {
    connections: () => (hangs === 0 ? null : sockets.size / hangs),
    async remove() {
      await inParallel(broken, workers, (index) => capi.delete(names[index] ?? ''));
      await goAll({ target, edges, agents: { reported: new Map(), failures: [] }, capi, workers }, names, false);
      for (const socket of sockets) socket.destroy();
      silent.close();
    },
  };
}

async function until(holds: () => boolean, what: string): Promise<void> {
  await poll(() => (holds() ? true : undefined), { what, limitMs });
}
