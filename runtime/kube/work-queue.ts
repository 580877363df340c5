/**
 * Keys that need work, as in client-go and controller-runtime's priority queue: a key is in the queue once however often
 * it is added, is never handed to two workers, and comes again after `done` when it was added while it was worked on.
 */
import { durations } from '../../api/durations.ts';
import type { BackoffOptions } from './backoff.ts';
import { backoffMs } from './backoff.ts';
import { Heap } from './heap.ts';
import type { Metrics } from './metrics.ts';
import { kubeMetrics } from './metrics.ts';

/** Priority of what is only being looked at again, such as the objects of an initial list (controller-runtime: -100). */
export const lowPriority = -100;

/** Longest delay that a timer of Node can hold. */
const longestTimer = 2 ** 31 - 1;

export interface AddOptions {
  /** Not before this many milliseconds have passed. Default: 0. */
  readonly afterMs?: number;
  /** Higher comes first. Default: 0. */
  readonly priority?: number;
}

export interface WorkQueueOptions {
  /** Label of its metrics. */
  readonly name?: string;
  /** Of keys that failed. Default: `durations.reconcileRetryFirst` to `reconcileRetryLast`. */
  readonly backoff?: BackoffOptions;
  readonly metrics?: Metrics;
}

/** What a worker gets. */
export interface WorkItem {
  readonly key: string;
  readonly priority: number;
  /** Failures since the last `forget`. */
  readonly failures: number;
}

interface Entry {
  readonly key: string;
  readonly priority: number;
  readonly readyAt: number;
  readonly addedAt: number;
  /** Order among equals: first in, first out. */
  readonly order: number;
}

/** See the module comment. Times come from `performance.now()`. */
export class WorkQueue {
  #backoff: BackoffOptions;
  #metrics: {
    count(event: 'add' | 'retry'): void;
    depth(n: number): void;
    waited(ms: number): void;
    worked(ms: number): void;
  };
  /** The one entry of each queued key. Heaps may hold replaced entries; those not in here are skipped. */
  #queued = new Map<string, Entry>();
  #processing = new Map<string, number>();
  #failures = new Map<string, number>();
  #ready = new Heap<Entry>((a, b) => (a.priority === b.priority ? a.order < b.order : a.priority > b.priority));
  #delayed = new Heap<Entry>((a, b) => a.readyAt < b.readyAt);
  #waiting: ((item: WorkItem | undefined) => void)[] = [];
  #drained: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #orders = 0;
  #closed = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#backoff = options.backoff ?? { baseMs: durations.reconcileRetryFirst, maxMs: durations.reconcileRetryLast };
    this.#metrics = recorder(options);
  }

  /** Keys that wait, the delayed ones included. */
  get size(): number {
    return this.#queued.size;
  }

  /** Keys that are being worked on. */
  get active(): number {
    return this.#processing.size;
  }

  /** Adds a key. If it is queued already, the sooner time and the higher priority win. Ignored after `shutDown`. */
  add(key: string, options: AddOptions = {}): void {
    if (this.#closed) return;
    const now = performance.now();
    const known = this.#queued.get(key);
    const readyAt = now + Math.max(0, options.afterMs ?? 0);
    const priority = options.priority ?? 0;
    if (known !== undefined && known.readyAt <= readyAt && known.priority >= priority) return;
    if (known === undefined) this.#metrics.count('add');
    this.#put({
      key,
      priority: Math.max(priority, known?.priority ?? priority),
      readyAt: Math.min(readyAt, known?.readyAt ?? readyAt),
      addedAt: known?.addedAt ?? now,
      order: known !== undefined && known.priority >= priority ? known.order : ++this.#orders,
    });
    this.#dispatch();
  }

  /** Adds a key that failed: later with each failure since the last `forget`. Returns the pause in milliseconds. */
  retry(key: string, options: { priority?: number; atLeastMs?: number } = {}): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#metrics.count('retry');
    const afterMs = Math.max(backoffMs(failures, this.#backoff), options.atLeastMs ?? 0);
    this.add(key, { afterMs, priority: options.priority ?? 0 });
    return afterMs;
  }

  /** The key succeeded, or is given up: its next failure counts as the first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, when there is one; `undefined` after `shutDown`. Every key must be given back with `done`. */
  take(): Promise<WorkItem | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#dispatch();
    });
  }

  /** The worker has finished with the key. */
  done(key: string): void {
    const started = this.#processing.get(key);
    if (started === undefined) return;
    this.#processing.delete(key);
    this.#metrics.worked(performance.now() - started);
    const again = this.#queued.get(key);
    if (again !== undefined) this.#put(again);
    this.#dispatch();
    if (this.#processing.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Drops what waits and lets workers go: after a restart the initial list brings every key back. */
  shutDown(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#queued.clear();
    this.#ready.clear();
    this.#delayed.clear();
    this.#failures.clear();
    this.#metrics.depth(0);
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  /** Resolves when no key is being worked on. */
  drained(): Promise<void> {
    if (this.#processing.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** Files the entry by its time. A key that is being worked on is filed again by `done`. */
  #put(entry: Entry): void {
    this.#queued.set(entry.key, entry);
    if (this.#processing.has(entry.key)) return;
    (entry.readyAt <= performance.now() ? this.#ready : this.#delayed).push(entry);
  }

  #isCurrent(entry: Entry): boolean {
    return this.#queued.get(entry.key) === entry && !this.#processing.has(entry.key);
  }

  /** Moves what has become ready, hands it to waiting workers, and sets the timer for the next delayed key. */
  #dispatch(): void {
    const now = performance.now();
    for (let next = this.#delayed.peek(); next !== undefined; next = this.#delayed.peek()) {
      if (this.#isCurrent(next) && next.readyAt > now) break;
      this.#delayed.pop();
      if (this.#isCurrent(next)) this.#ready.push(next);
    }
    while (this.#waiting.length > 0) {
      const entry = this.#ready.pop();
      if (entry === undefined) break;
      if (!this.#isCurrent(entry)) continue;
      this.#queued.delete(entry.key);
      this.#processing.set(entry.key, now);
      this.#metrics.waited(now - Math.max(entry.addedAt, entry.readyAt));
      const failures = this.#failures.get(entry.key) ?? 0;
      this.#waiting.shift()?.({ key: entry.key, priority: entry.priority, failures });
    }
    this.#metrics.depth(this.#queued.size);
    clearTimeout(this.#timer);
    const next = this.#delayed.peek();
    if (next === undefined) return;
    // A timer of Node may fire a fraction early: then nothing is ready yet and this line sets the next one.
    this.#timer = setTimeout(() => this.#dispatch(), Math.min(longestTimer, Math.ceil(next.readyAt - now)));
  }
}

function recorder({ metrics, name = 'queue' }: WorkQueueOptions): {
  count(event: 'add' | 'retry'): void;
  depth(n: number): void;
  waited(ms: number): void;
  worked(ms: number): void;
} {
  const labels = { name, controller: name };
  const adds = metrics?.counter(kubeMetrics.queueAdds);
  const retries = metrics?.counter(kubeMetrics.queueRetries);
  const depth = metrics?.gauge(kubeMetrics.queueDepth);
  const wait = metrics?.histogram(kubeMetrics.queueWait);
  const work = metrics?.histogram(kubeMetrics.queueWork);
  return {
    count: (event) => (event === 'add' ? adds : retries)?.inc(labels),
    depth: (n) => depth?.set(labels, n),
    waited: (ms) => wait?.observe(labels, ms / 1000),
    worked: (ms) => work?.observe(labels, ms / 1000),
  };
}
