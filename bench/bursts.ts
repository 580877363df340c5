/** A burst: many requests sent to a hub at once, and how long each waits for its credential. */
import { labels } from '../api/fleet/constants.ts';
import { registrationSecretName, randomToken } from '../api/fleet/names.ts';
import { ClusterRegistrations } from '../api/fleet/kinds.ts';
import type { Secret } from '../api/kubernetes/core.ts';
import { Secrets } from '../api/kubernetes/core.ts';
import { countRequests, difference, total } from './api-requests.ts';
import { cpuMs, rssMb } from './process-usage.ts';
import { progress } from './report.ts';
import { requestOf } from './request.ts';
import { percentile } from './statistics.ts';
import { type Target, answersNamespace } from './target.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';

/** Requests before a run of `count`, not measured: code is compiled, connections are there. */
export function warmUpOf(count: number): number {
  return Math.min(100, 2 * count);
}

/** Longest time for all answers of one run. */
const limitMs = 600_000;

export type BurstFigures = Readonly<
  Record<'perSecond' | 'p50Ms' | 'p95Ms' | 'requestsPerRegistration', number> &
    Record<'hubCpuMsPerRegistration' | 'hubRssMb', number | null>
>;

/** Sends `count` requests, `workers` at a time, and waits for all answers. */
export async function sendBurst(
  target: Target,
  tokenName: string,
  count: number,
  workers: number,
): Promise<BurstFigures> {
  progress(`sending ${count} requests, ${workers} at a time`);
  const pending = new Map<string, number>();
  const latencies: number[] = [];
  const stop = new AbortController();
  const answers = watchAnswers(target, stop.signal, (name) => {
    const sent = pending.get(name);
    if (sent === undefined) return;
    pending.delete(name);
    latencies.push(performance.now() - sent);
    if (latencies.length === count) stop.abort(new Error('complete'));
  });
  await answers.standing;
  const before = await countRequests(target.config);
  const cpuBefore = cpuMs(target.pids());
  const named = { [labels.registrationToken]: tokenName };
  const start = performance.now();
  await inParallel(count, workers, async () => {
    const clientID = `bench-${randomToken(12)}`;
    const clientRandom = randomToken();
    pending.set(registrationSecretName(clientID, clientRandom), performance.now());
    await target.admin.create(ClusterRegistrations, requestOf(named, { clientID, clientRandom }));
  });
  const timer = setTimeout(() => stop.abort(new Error('too late')), limitMs);
  await Promise.race([answers.ended, target.failure()]);
  clearTimeout(timer);
  const seconds = (performance.now() - start) / 1000;
  if (latencies.length < count) progress(`only ${latencies.length} of ${count} were answered`);
  const settled = await settle(target, before);
  const cpuAfter = cpuMs(target.pids());
  return {
    perSecond: latencies.length / seconds,
    p50Ms: percentile(latencies, 0.5),
    p95Ms: percentile(latencies, 0.95),
    requestsPerRegistration: settled / count,
    hubCpuMsPerRegistration: cpuBefore === undefined || cpuAfter === undefined ? null : (cpuAfter - cpuBefore) / count,
    hubRssMb: rssMb(target.pids()) ?? null,
  };
}

/** Calls `seen` for each Secret that answers a request with a token in it, until `signal` aborts. */
function watchAnswers(
  target: Target,
  signal: AbortSignal,
  seen: (name: string) => void,
): { standing: Promise<void>; ended: Promise<void> } {
  const { promise: standing, resolve } = Promise.withResolvers<void>();
  const tell = ({ metadata, data }: Secret): void => {
    if (data?.['token']) seen(metadata.name ?? '');
  };
  const follow = async (): Promise<void> => {
    let { resourceVersion } = await target.admin.list(Secrets, { namespace: answersNamespace });
    resolve();
    while (!signal.aborted) {
      try {
        for await (const event of target.admin.watch(Secrets, {
          namespace: answersNamespace,
          resourceVersion,
          signal,
        })) {
          if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion;
          else resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
          if (event.type === 'ADDED' || event.type === 'MODIFIED') tell(event.object);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };
  const ended = follow();
  ended.catch(() => resolve());
  return { standing, ended };
}

/** Waits until the hub has written what it still had to, and returns how many requests there were in all. */
export async function settle(target: Target, before: ReadonlyMap<string, number>): Promise<number> {
  for (let last = -1; ;) {
    const added = difference(before, await countRequests(target.config));
    const now = total(added);
    // Without a hub at work there are a few requests each second, of the control plane's own.
    if (last >= 0 && now - last < 10) {
      progress(
        `requests: ${[...added]
          .slice(0, 20)
          .map(([what, count]) => `${count} ${what}`)
          .join(', ')}`,
      );
      return now;
    }
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
