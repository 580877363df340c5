/** A number of clusters of Cluster API that come in one go, and go in one go. */
import process from 'node:process';
import { Clusters } from '../api/fleet/kinds.ts';
import { registrationFinalizer } from '../api/muster/constants.ts';
import type { RegistrationRule } from '../api/muster/kinds.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';
import { poll } from '../test/harness/index.ts';
import type { PlayedAgents } from '../test/support/played-agents.ts';
import type { PlayedClusterAPI } from '../test/support/played-cluster-api.ts';
import type { SmallEdges } from '../test/support/small-edges.ts';
import { countRequests } from './api-requests.ts';
import { settle } from './bursts.ts';
import { cpuMs } from './process-usage.ts';
import { progress } from './report.ts';
import { percentile } from './statistics.ts';
import type { Target } from './target.ts';
import { workspace } from './target.ts';

const limitMs = 600_000;

export interface RulesBench {
  readonly target: Target;
  readonly edges: SmallEdges;
  readonly agents: PlayedAgents;
  readonly capi: PlayedClusterAPI;
  readonly rule: RegistrationRule;
  readonly workers: number;
}

export interface Measured {
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
export async function measure(
  { target, edges, agents, capi, workers }: RulesBench,
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
  await goAll({ target, capi, workers }, names, restart);
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
export async function goAll(
  { target, capi, workers }: Pick<RulesBench, 'target' | 'capi' | 'workers'>,
  names: readonly string[],
  restart: boolean,
): Promise<void> {
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

export async function until(holds: () => boolean, what: string): Promise<void> {
  await poll(() => (holds() ? true : undefined), { what, limitMs });
}
