/** What a hub costs, and how fast it still is, with many registered clusters whose agents report. */
import { randomBytes } from 'node:crypto';
import { countRequests, difference, total } from './api-requests.ts';
import { sendBurst, settle, warmUpOf } from './bursts.ts';
import { Crowd } from './crowd.ts';
import type { BenchOptions } from './options.ts';
import { cpuMs, rssMb } from './process-usage.ts';
import { idle, memoryRest } from './quiet.ts';
import { progress } from './report.ts';
import { type Figures, summarize } from './statistics.ts';
import { type Target, openTarget } from './target.ts';
import { makeToken } from './token.ts';

export async function scale(options: BenchOptions): Promise<object> {
  const { count, workers, clusters, hub } = options;
  const target = await openTarget(options);
  const crowd = new Crowd(options);
  try {
    const tokenName = `bench-${randomBytes(3).toString('hex')}`;
    const { values } = await makeToken(target, tokenName);
    await sendBurst(target, tokenName, warmUpOf(count), workers);
    // A hub that was given is there once: its empty burst can only be the first thing that is done to it.
    const first = hub === undefined ? undefined : await sendBurst(target, tokenName, count, workers);
    const steps: object[] = [];
    for (const step of clusters) steps.push(await grow(target, crowd, step, values));
    const heartbeat = await beatAll(target, crowd, workers);
    const growth = await compare(target, tokenName, options, first?.perSecond);
    const restart = hub === undefined ? await restartHub(target, crowd) : null;
    return {
      benchmark: 'scale',
      hub: hub === undefined ? 'muster' : target.config.server,
      clusters: crowd.size,
      count,
      runs: options.runs,
      growth,
      steps,
      heartbeat,
      restart,
    };
  } finally {
    await crowd.close();
    await target.close();
  }
}

/** Registers agents until there are `clusters`, and says what that took and what the hub weighs then. */
async function grow(
  target: Target,
  crowd: Crowd,
  clusters: number,
  values: Parameters<Crowd['grow']>[1],
): Promise<Figures> {
  const missing = clusters - crowd.size;
  progress(`registering ${missing} agents`);
  const before = await countRequests(target.config);
  const cpuBefore = cpuMs(target.pids());
  const start = performance.now();
  await Promise.race([crowd.grow(missing, values), target.failure()]);
  const perSecond = (missing * 1000) / (performance.now() - start);
  const requests = await settle(target, before);
  const cpuAfter = cpuMs(target.pids());
  await memoryRest(target);
  const figures = {
    clusters,
    perSecond: round(perSecond),
    requestsPerRegistration: round(requests / missing),
    hubCpuMsPerRegistration:
      cpuBefore === undefined || cpuAfter === undefined ? null : round((cpuAfter - cpuBefore) / missing),
    hubRssMb: round(rssMb(target.pids())),
    hubAnonymousMb: round(rssMb(target.pids(), 'RssAnon')),
  };
  progress(JSON.stringify(figures));
  return figures;
}

/** One heartbeat of each agent, as fast as they go. A hub has nothing to write for one. */
async function beatAll(target: Target, crowd: Crowd, workers: number): Promise<Figures> {
  await idle(target);
  const before = await countRequests(target.config);
  const cpuBefore = cpuMs(target.pids());
  const start = performance.now();
  await crowd.beatOnce(workers);
  const seconds = (performance.now() - start) / 1000;
  await idle(target);
  const added = difference(before, await countRequests(target.config));
  const cpuAfter = cpuMs(target.pids());
  return {
    perSecond: round(crowd.size / seconds),
    hubCpuMs: cpuBefore === undefined || cpuAfter === undefined ? null : round((cpuAfter - cpuBefore) / crowd.size, 3),
    otherWrites: writes(withoutEndOfAnswers(added)) - crowd.size,
  };
}

/** Answers are deleted a minute after the first heartbeat, which for some of these agents is now. */
function withoutEndOfAnswers(requests: ReadonlyMap<string, number>): Map<string, number> {
  const theirs = new Set(['DELETE secrets', 'DELETE roles', 'APPLY roles']);
  return new Map([...requests].filter(([what]) => !theirs.has(what)));
}

/** Bursts on the full hub and on an empty one, in turns, so that whatever else the machine does hits both. */
async function compare(
  target: Target,
  tokenName: string,
  options: BenchOptions,
  emptyPerSecond: number | undefined,
): Promise<object> {
  const { count, workers, runs } = options;
  const figures: Figures[] = [];
  for (let run = 1; run <= runs; run++) {
    const empty = emptyPerSecond ?? (await burstOnEmpty(options));
    await sendBurst(target, tokenName, warmUpOf(count), workers);
    const { perSecond: full, p95Ms, hubCpuMsPerRegistration } = await sendBurst(target, tokenName, count, workers);
    figures.push({ emptyPerSecond: empty, fullPerSecond: full, growth: empty / full, p95Ms, hubCpuMsPerRegistration });
    progress(`run ${run} of ${runs}: ${JSON.stringify(figures.at(-1))}`);
  }
  return summarize(figures, 2);
}

async function burstOnEmpty(options: BenchOptions): Promise<number> {
  const target = await openTarget(options);
  try {
    const tokenName = 'bench-empty';
    await makeToken(target, tokenName);
    await sendBurst(target, tokenName, warmUpOf(options.count), options.workers);
    return (await sendBurst(target, tokenName, options.count, options.workers)).perSecond;
  } finally {
    await target.close();
  }
}

/** A restart looks at everything again: what it writes is what it would write for no reason. */
async function restartHub(target: Target, crowd: Crowd): Promise<Figures> {
  await crowd.pause();
  await target.stopHub();
  const before = await countRequests(target.config);
  const start = performance.now();
  await target.startHub();
  const readyMs = performance.now() - start;
  await idle(target);
  const added = difference(before, await countRequests(target.config));
  await memoryRest(target);
  progress(`requests of a restart: ${[...added].map(([what, count]) => `${count} ${what}`).join(', ')}`);
  return {
    readyMs: round(readyMs),
    requests: total(added),
    writes: writes(added),
    hubCpuMs: round(cpuMs(target.pids())),
    hubRssMb: round(rssMb(target.pids())),
  };
}

/** Requests that change something. Reviews are questions. */
function writes(requests: ReadonlyMap<string, number>): number {
  const changing = [...requests].filter(([what]) => /^(POST|PUT|PATCH|APPLY|DELETE)/.test(what));
  return total(new Map(changing.filter(([what]) => !/ (self)?(subject\w+|token)reviews/.test(what))));
}

function round(value: number | undefined, digits = 1): number {
  return Number((value ?? Number.NaN).toFixed(digits));
}
