import { describe, expect, it, vi } from 'vitest';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import { ConfigMaps } from '../../api/kubernetes/core.ts';
import { durations } from '../../api/durations.ts';
import { ApiError } from './api-error.ts';
import type { Cache, CacheEvent } from './cache.ts';
import type { Controller, ControllerOptions } from './controller.ts';
import { createController, TerminalError } from './controller.ts';
import { createLogger } from './logger.ts';
import { createMetrics } from './metrics.ts';

const fast = { baseMs: 1, maxMs: 4 };

interface Running {
  controller: Controller;
  stop: () => Promise<void>;
  lines: string[];
  metrics: ReturnType<typeof createMetrics>;
}

function start(options: Omit<ControllerOptions, 'name'>, prepare?: (controller: Controller) => void): Running {
  const controller = createController({ name: 'things', backoff: fast, ...options });
  prepare?.(controller);
  const stopping = new AbortController();
  const lines: string[] = [];
  const metrics = createMetrics();
  const logger = createLogger({ level: 'debug', write: (line) => lines.push(line) });
  const running = controller.run(stopping.signal, { logger, metrics });
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('test over'));
    await running;
  };
  return { controller, stop, lines, metrics };
}

/** A signal for tests: resolves once it has been hit `count` times. */
function latch(count = 1): { hit: () => void; done: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let hits = 0;
  return { hit: () => void ((hits += 1) === count && resolve()), done: promise };
}

/** A cache whose events the test makes up. */
function fakeCache(): { cache: Cache<ConfigMap>; emit: (event: CacheEvent<ConfigMap>) => void; sync: () => void } {
  const handlers = new Set<(event: CacheEvent<ConfigMap>) => void>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const cache: Cache<ConfigMap> = {
    type: ConfigMaps,
    synced: false,
    failure: undefined,
    start: () => Promise.resolve(),
    whenSynced: () => promise,
    get: () => undefined,
    list: () => [],
    byIndex: () => [],
    addIndexers: () => undefined,
    subscribe(handler) {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
  };
  return { cache, emit: (event) => handlers.forEach((handler) => handler(event)), sync: resolve };
}

const configMap = (name: string, labels: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'ns', labels },
});

describe('a controller', () => {
  it('tries a failed key again, counts the attempts, and lets the others go on', async () => {
    // given
    const seen: string[] = [];
    const done = latch(4);
    const { controller, stop, metrics } = start({
      reconcile: (key, { attempt }) => {
        seen.push(`${key} ${attempt}`);
        done.hit();
        // Thrown before the first await, as a bug would.
        if (key === 'bad' && attempt < 3) throw new Error('not yet');
        return Promise.resolve();
      },
    });

    // when
    controller.enqueue('bad');
    controller.enqueue('good');
    await done.done;
    await stop();

    // then
    expect(seen).toEqual(['bad 1', 'good 1', 'bad 2', 'bad 3']);
    const text = await metrics.text();
    expect(text).toContain('controller_runtime_reconcile_total{controller="things",result="error"} 2');
    expect(text).toContain('controller_runtime_reconcile_total{controller="things",result="success"} 2');
    expect(text).toContain('controller_runtime_reconcile_errors_total{controller="things"} 2');
    expect(text).toContain('controller_runtime_max_concurrent_reconciles{controller="things"} 1');
  });

  it('does not try a terminal error again before the key is added anew', async () => {
    const attempts: number[] = [];
    const first = latch(1);
    const second = latch(2);
    const { controller, stop, metrics } = start({
      reconcile: (_key, { attempt }) => {
        attempts.push(attempt);
        first.hit();
        second.hit();
        return Promise.reject(new TerminalError('hopeless'));
      },
    });
    controller.enqueue('a');
    await first.done;
    controller.enqueue('a');
    await second.done;
    await stop();
    expect(attempts).toEqual([1, 1]);
    expect(await metrics.text()).toContain('terminal_reconcile_errors_total{controller="things"} 2');
  });

  it('comes back when a reconcile asks for it, and waits at least as long as the server asks', async () => {
    const done = latch(3);
    const times: number[] = [];
    const { controller, stop } = start({
      reconcile: (_key, { attempt }) => {
        times.push(performance.now());
        done.hit();
        if (attempt === 1 && times.length === 2) {
          return Promise.reject(new ApiError('busy', { status: 429, reason: 'TooManyRequests', retryAfterMs: 60 }));
        }
        return Promise.resolve(times.length === 1 ? { requeueAfterMs: 20 } : undefined);
      },
    });
    controller.enqueue('a');
    await done.done;
    await stop();
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThanOrEqual(19);
    expect(third - second).toBeGreaterThanOrEqual(59);
  });

  it('never runs two reconciles of one key at a time, and as many keys as it may', async () => {
    // given
    const busy = new Map<string, number>();
    let widest = 0;
    const overlaps: string[] = [];
    const done = latch(40);
    const { controller, stop } = start({
      concurrency: 3,
      reconcile: async (key) => {
        busy.set(key, (busy.get(key) ?? 0) + 1);
        if ((busy.get(key) ?? 0) > 1) overlaps.push(key);
        widest = Math.max(widest, [...busy.values()].filter((count) => count > 0).length);
        await new Promise((resolve) => setImmediate(resolve));
        busy.set(key, (busy.get(key) ?? 0) - 1);
        done.hit();
        return { requeueAfterMs: 0 };
      },
    });

    // when
    for (const key of ['a', 'b', 'c', 'd']) controller.enqueue(key);
    await done.done;
    await stop();

    // then
    expect(overlaps).toEqual([]);
    expect(widest).toBe(3);
  });

  it('tells a slow reconcile to stop', async () => {
    const failed = latch(1);
    const { controller, stop, lines, metrics } = start({
      reconcileTimeoutMs: 20,
      reconcile: async (_key, { signal, attempt }) => {
        if (attempt > 1) return failed.hit();
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      },
    });
    controller.enqueue('slow');
    await failed.done;
    await stop();
    expect(lines.join('')).toContain('the reconcile took longer than 0.02 s');
    expect(await metrics.text()).toContain('controller_runtime_reconcile_timeouts_total{controller="things"} 1');
  });

  it('takes the worker from a reconcile that ignores its signal, but keeps its key locked', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const seen: string[] = [];
      const { promise: stuck, resolve: release } = Promise.withResolvers<void>();
      const { controller, stop } = start({
        reconcileTimeoutMs: 100,
        reconcile: async (key) => {
          seen.push(key);
          if (key === 'stuck' && seen.length === 1) await stuck;
        },
      });
      controller.enqueue('stuck');
      await vi.advanceTimersByTimeAsync(50);
      controller.enqueue('stuck');
      controller.enqueue('other');
      await vi.advanceTimersByTimeAsync(100 + durations.reconcileAbandon);
      expect(seen).toEqual(['stuck', 'other']);
      release();
      await vi.advanceTimersByTimeAsync(10);
      expect(seen).toEqual(['stuck', 'other', 'stuck']);
      await stop();
    } finally {
      vi.useRealTimers();
    }
  });

  it('waits for its caches, then takes changes before what was there already', async () => {
    // given
    const { cache, emit, sync } = fakeCache();
    const seen: string[] = [];
    const done = latch(3);
    const reconcile = (key: string): Promise<void> => {
      seen.push(key);
      done.hit();
      return Promise.resolve();
    };
    const { stop } = start({ reconcile }, (controller) => controller.watch(cache));

    // when
    emit({ type: 'added', object: configMap('old-1'), initial: true });
    emit({ type: 'added', object: configMap('old-2'), initial: true });
    emit({ type: 'added', object: configMap('new'), initial: false });
    await new Promise((resolve) => setImmediate(resolve));
    const before = [...seen];
    sync();
    await done.done;
    await stop();

    // then
    expect(before).toEqual([]);
    expect(seen).toEqual(['ns/new', 'ns/old-1', 'ns/old-2']);
  });

  it('maps both the new and the old state of an update, and drops what its predicate refuses', async () => {
    const { cache, emit, sync } = fakeCache();
    const seen = new Set<string>();
    const done = latch(2);
    const reconcile = (key: string): Promise<void> => {
      seen.add(key);
      done.hit();
      return Promise.resolve();
    };
    const { stop } = start({ reconcile }, (controller) =>
      controller.watch(cache, {
        map: ({ object }) => [`owner/${object.metadata.labels?.['owner'] ?? ''}`],
        predicate: ({ object }) => object.metadata.name !== 'ignored',
      }),
    );
    sync();
    const [previous, object] = [configMap('moved', { owner: 'a' }), configMap('moved', { owner: 'b' })];
    emit({ type: 'added', object: configMap('ignored', { owner: 'c' }), initial: false });
    emit({ type: 'updated', object, previous, initial: false });
    await done.done;
    await stop();
    expect(seen).toEqual(new Set(['owner/a', 'owner/b']));
  });

  it('looks at everything again from time to time, though nothing has changed', async () => {
    const { cache, sync } = fakeCache();
    cache.list = () => [configMap('quiet')];
    const seen: string[] = [];
    const again = latch(2);
    const reconcile = (key: string): Promise<void> => {
      seen.push(key);
      again.hit();
      return Promise.resolve();
    };
    const { stop } = start({ reconcile, resyncMs: 5 }, (controller) => controller.watch(cache));
    sync();
    await again.done;
    await stop();
    expect(new Set(seen)).toEqual(new Set(['ns/quiet']));
  });

  it('lets a running reconcile end when it is stopped, and starts no other', async () => {
    // given
    const seen: string[] = [];
    const started = latch(1);
    const { promise: work, resolve: finish } = Promise.withResolvers<void>();
    const { controller, stop } = start({
      reconcile: async (key, { signal }) => {
        seen.push(`${key} starts`);
        started.hit();
        await work;
        seen.push(`${key} ends, ${signal.aborted ? 'aborted' : 'in peace'}`);
      },
    });
    controller.enqueue('a');
    controller.enqueue('b');
    await started.done;

    // when
    const stopped = stop();
    finish();
    await stopped;

    // then
    expect(seen).toEqual(['a starts', 'a ends, in peace']);
  });

  it('tells a reconcile that waits at once that it is stopped, and takes its end for no failure', async () => {
    const waiting = latch();
    const { controller, stop, lines } = start({
      reconcile: async (_key, { signal, stopping }) => {
        waiting.hit();
        await new Promise((_, reject) => stopping.addEventListener('abort', () => reject(stopping.reason as Error)));
        signal.throwIfAborted();
      },
    });
    controller.enqueue('a');
    await waiting.done;
    await stop();
    expect(lines.filter((line) => line.includes('failed'))).toEqual([]);
  });

  it('aborts what still runs when the grace is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      let reason: unknown;
      const { controller, stop } = start({
        reconcile: (_key, { signal }) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              reason = signal.reason;
              resolve();
            }),
          ),
      });
      controller.enqueue('a');
      await vi.advanceTimersByTimeAsync(1);
      const stopped = stop();
      await vi.advanceTimersByTimeAsync(durations.shutdownGrace);
      await stopped;
      expect(reason).toMatchObject({ message: 'the process is stopping' });
    } finally {
      vi.useRealTimers();
    }
  });
});
