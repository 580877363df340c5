/** The controller behind `createController`: workers that take keys from a queue. */
import type { KubeObject } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { durations } from '../../api/durations.ts';
import { isApiError, isConflict } from './api-error.ts';
import { pause } from './backoff.ts';
import type { Cache } from './cache.ts';
import type { Controller, ControllerEnvironment, ControllerOptions, Result, WatchMapping } from './controller.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { kubeMetrics } from './metrics.ts';
import type { AddOptions, WorkItem } from './work-queue.ts';
import { lowPriority, WorkQueue } from './work-queue.ts';
import { untilAborted } from './until-aborted.ts';

export class QueueController implements Controller {
  readonly name: string;
  #options: ControllerOptions;
  #caches: Cache[] = [];
  #unsubscribe: (() => void)[] = [];
  /** Adds the keys of everything that one watched cache holds. */
  #addAll: (() => void)[] = [];
  /** Keys that came before `run`, which makes the queue with the manager's metrics. */
  #early = new Map<string, AddOptions>();
  #queue: WorkQueue | undefined;
  #logger: Logger = silentLogger;
  #metrics: Metrics | undefined;
  /** Of `run`. */
  #stopping = new AbortController().signal;
  /** Of the reconciles that run now. */
  #running = new Set<AbortController>();

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
  }

  watch<T extends KubeObject>(cache: Cache<T>, mapping: WatchMapping<T> = {}): Controller {
    const { map = (event) => [keyOf(event.object)], predicate = () => true, priority } = mapping;
    this.#caches.push(cache as unknown as Cache);
    const unsubscribe = cache.subscribe((event) => {
      if (!predicate(event)) return;
      const options = { priority: priority ?? (event.initial ? lowPriority : 0) };
      for (const key of map(event)) this.enqueue(key, options);
      if (event.previous === undefined) return;
      const { previous, initial } = event;
      for (const key of map({ type: 'updated', object: previous, initial })) this.enqueue(key, options);
    });
    this.#unsubscribe.push(unsubscribe);
    this.#addAll.push(() => {
      for (const object of cache.list()) {
        for (const key of map({ type: 'updated', object, initial: true })) this.enqueue(key, { priority: lowPriority });
      }
    });
    return this;
  }

  enqueue(key: string, options: AddOptions = {}): void {
    if (this.#queue !== undefined) return this.#queue.add(key, options);
    const known = this.#early.get(key);
    const priority = Math.max(options.priority ?? 0, known?.priority ?? Number.NEGATIVE_INFINITY);
    const afterMs = Math.min(options.afterMs ?? 0, known?.afterMs ?? Number.POSITIVE_INFINITY);
    this.#early.set(key, { priority, afterMs });
  }

  async run(signal: AbortSignal, environment: ControllerEnvironment = {}): Promise<void> {
    this.#logger = (environment.logger ?? silentLogger).child({ controller: this.name });
    this.#metrics = environment.metrics;
    this.#stopping = signal;
    const { backoff, concurrency = 1 } = this.#options;
    const metrics = this.#metrics === undefined ? {} : { metrics: this.#metrics };
    const queue = new WorkQueue({ name: this.name, ...(backoff === undefined ? {} : { backoff }), ...metrics });
    this.#queue = queue;
    for (const [key, options] of this.#early) queue.add(key, options);
    this.#early.clear();
    this.#metrics?.gauge(kubeMetrics.maxConcurrent).set({ controller: this.name }, concurrency);
    try {
      await Promise.all(this.#caches.map((cache) => cache.whenSynced(signal)));
      signal.throwIfAborted();
      const stop = (): void => queue.shutDown();
      signal.addEventListener('abort', stop, { once: true });
      this.#resync(signal);
      await Promise.all(
        Array.from({ length: concurrency }, () => this.#work(queue)).concat(this.#limitGrace(signal, queue)),
      );
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      queue.shutDown();
      for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    }
  }

  /** Looks at everything again from time to time: what a fault made a reconcile miss is found without a change. */
  #resync(signal: AbortSignal): void {
    const everyMs = this.#options.resyncMs ?? durations.resync;
    if (everyMs === 0) return;
    // Not all controllers of all replicas at once.
    const timer = setInterval(() => this.#addAll.forEach((add) => add()), everyMs * (0.9 + 0.2 * Math.random()));
    timer.unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** After the abort: lets what runs finish, then tells it to stop. */
  async #limitGrace(signal: AbortSignal, queue: WorkQueue): Promise<void> {
    await untilAborted(signal);
    const done = new AbortController();
    const limit = pause(durations.shutdownGrace, done.signal).then(
      () => this.#running.forEach((running) => running.abort(new Error('the process is stopping'))),
      () => undefined,
    );
    await Promise.race([queue.drained(), limit.then(() => pause(durations.reconcileAbandon, done.signal))]);
    done.abort();
  }

  async #work(queue: WorkQueue): Promise<void> {
    const active = this.#metrics?.gauge(kubeMetrics.activeWorkers);
    for (let item = await queue.take(); item !== undefined; item = await queue.take()) {
      active?.inc({ controller: this.name });
      const ended = await this.#reconcile(queue, item);
      active?.dec({ controller: this.name });
      if (ended) queue.done(item.key);
    }
  }

  /** One reconcile. False when it ignored its timeout: its key then stays locked until it ends after all. */
  async #reconcile(queue: WorkQueue, item: WorkItem): Promise<boolean> {
    const { key } = item;
    const timeoutMs = this.#options.reconcileTimeoutMs ?? durations.reconcileTimeout;
    const stop = new AbortController();
    this.#running.add(stop);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      stop.abort(new Error(`the reconcile took longer than ${timeoutMs / 1000} s`));
    }, timeoutMs);
    const { signal } = stop;
    let own: Logger | undefined;
    const logger = (): Logger => (own ??= this.#logger.child({ key }));
    const started = performance.now();
    // In a promise of its own, so that a reconcile that throws before its first await is an error like any other.
    const running = Promise.resolve().then(() =>
      this.#options.reconcile(key, {
        signal,
        stopping: this.#stopping,
        // most reconciles log nothing
        get logger() {
          return logger();
        },
        attempt: item.failures + 1,
      }),
    );
    const settled = running.then(
      (result) => this.#succeeded(queue, item, result ?? undefined),
      (error: unknown) => this.#failed(queue, item, error, logger()),
    );
    const ended = await firstOf(settled, signal);
    clearTimeout(timer);
    this.#running.delete(stop);
    const labels = { controller: this.name };
    if (timedOut) this.#metrics?.counter(kubeMetrics.reconcileTimeouts).inc(labels);
    this.#metrics?.histogram(kubeMetrics.reconcileTime).observe(labels, (performance.now() - started) / 1000);
    if (ended) return true;
    logger().error({ timeoutMs }, 'a reconcile ignores its signal; its worker goes on without it');
    void settled.then(() => queue.done(key));
    return false;
  }

  #succeeded(queue: WorkQueue, { key, priority }: WorkItem, result: Result | undefined): void {
    queue.forget(key);
    const again = result?.requeueAfterMs;
    if (again !== undefined) queue.add(key, { afterMs: again, priority });
    this.#count(again === undefined ? 'success' : 'requeue_after');
  }

  #failed(queue: WorkQueue, { key, priority, failures }: WorkItem, error: unknown, logger: Logger): void {
    if (this.#stopping.aborted && error === this.#stopping.reason) return queue.forget(key);
    this.#count('error');
    this.#metrics?.counter(kubeMetrics.reconcileErrors).inc({ controller: this.name });
    if (error instanceof Error && error.name === 'TerminalError') {
      this.#metrics?.counter(kubeMetrics.terminalErrors).inc({ controller: this.name });
      queue.forget(key);
      logger.error({ error }, 'reconcile failed; it is not tried again before something changes');
      return;
    }
    const atLeastMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
    const retryMs = Math.round(queue.retry(key, { priority, atLeastMs }));
    // A conflict means that the cache was a moment behind: the next try sees the new state. No news for anyone.
    const level = isConflict(error) ? 'debug' : 'error';
    logger[level]({ error, attempt: failures + 1, retryMs }, 'reconcile failed');
  }

  #count(result: 'success' | 'error' | 'requeue_after'): void {
    this.#metrics?.counter(kubeMetrics.reconciles).inc({ controller: this.name, result });
  }
}

/**
 * True when `settled` resolves; false when the signal was aborted and it has not for `durations.reconcileAbandon`. Made of
 * plain callbacks: this runs for each reconcile, and an AbortController that is aborted costs more than most of them.
 */
async function firstOf(settled: Promise<void>, signal: AbortSignal): Promise<boolean> {
  let limit: NodeJS.Timeout | undefined;
  let late: () => void = () => undefined;
  try {
    return await new Promise<boolean>((resolve, reject) => {
      late = () => {
        limit = setTimeout(() => resolve(false), durations.reconcileAbandon);
      };
      signal.addEventListener('abort', late, { once: true });
      settled.then(() => resolve(true), reject);
    });
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', late);
  }
}
