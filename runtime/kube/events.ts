/**
 * Events that tell users what happened to their objects (`events.k8s.io/v1`). Written in the background, one after the
 * other; repeats are counted in one series, and a chatty object cannot flood the API server.
 */
import type { KubeObject } from '../../api/resource.ts';
import { durations } from '../../api/durations.ts';
import { isNotFound } from './api-error.ts';
import type { KubeClient } from './client.ts';
import type { KubeEvent } from './event-object.ts';
import { Events, eventObject } from './event-object.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import { microTime } from './micro-time.ts';

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  /** `reportingController`, such as `muster-hub`. */
  readonly component: string;
  /** `reportingInstance`. Default: the component. */
  readonly instance?: string;
  readonly logger?: Logger;
}

export interface EventRecorder {
  /** Tells users what happened to `object`. Never blocks, never throws: an event that cannot be written is dropped. */
  event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Resolves when everything recorded so far is written or dropped, or when the signal aborts. */
  flush(signal?: AbortSignal): Promise<void>;
}

/** Events of one object written at once before `durations.eventRefill` holds them (client-go: spam burst 25). */
const burst = 25;
/** Events that may wait to be written; more are dropped. */
const longestQueue = 1000;
/** Series and budgets kept in memory before the oldest go. */
const remembered = 2000;

interface Series {
  event: KubeEvent;
  count: number;
  /** The count that the API server knows. */
  written: number;
  lastAt: number;
}

export function createEventRecorder(client: KubeClient, options: EventRecorderOptions): EventRecorder {
  return new BackgroundRecorder(client, options);
}

class BackgroundRecorder implements EventRecorder {
  #client: KubeClient;
  #options: EventRecorderOptions;
  #logger: Logger;
  #series = new Map<string, Series>();
  /** Per object: when its budget would be full again. */
  #fullAt = new Map<string, number>();
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;
  #stop = new AbortController();

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
  }

  event(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const now = performance.now();
    const source =
      object.metadata.uid ?? `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
    const key = JSON.stringify([source, type, reason, message]);
    const series = this.#series.get(key);
    if (series !== undefined && now - series.lastAt < durations.eventSeries) {
      series.count += 1;
      series.lastAt = now;
      // Written when the count has doubled: a loop shows as a growing number, at the price of a few requests.
      if (Number.isInteger(Math.log2(series.count))) this.#enqueue(() => this.#patch(series));
      return;
    }
    if (!this.#allowed(source, now)) return;
    const made: Series = {
      event: eventObject(object, type, reason, message, this.#options),
      count: 1,
      written: 1,
      lastAt: now,
    };
    remember(this.#series, key, made);
    this.#enqueue(async () => {
      made.event = await this.#client.create(Events, made.event, { signal: this.#stop.signal });
    });
  }

  /** One event is earned back per `eventRefill`; `burst` of them can be saved. */
  #allowed(source: string, now: number): boolean {
    const full = Math.max(this.#fullAt.get(source) ?? 0, now) + durations.eventRefill;
    if (full - now > burst * durations.eventRefill) return false;
    remember(this.#fullAt, source, full);
    return true;
  }

  async #patch(series: Series): Promise<void> {
    // Repeats that came while this one waited are in the count already.
    if (series.written === series.count) return;
    series.written = series.count;
    const { name = '', namespace = '' } = series.event.metadata;
    const patch = { series: { count: series.count, lastObservedTime: microTime() } };
    const signal = this.#stop.signal;
    try {
      await this.#client.patch(Events, { namespace, name }, patch, { type: 'merge', signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The API server forgets events after an hour.
      const { resourceVersion: _version, uid: _uid, ...metadata } = series.event.metadata;
      series.event = await this.#client.create(Events, { ...series.event, ...patch, metadata }, { signal });
    }
  }

  #enqueue(write: () => Promise<void>): void {
    if (this.#waiting >= longestQueue) return;
    this.#waiting += 1;
    this.#tail = this.#tail
      .then(() => (this.#stop.signal.aborted ? undefined : write()))
      .catch((error: unknown) => this.#logger.debug({ reason: (error as Error).message }, 'an event was not written'))
      .finally(() => void (this.#waiting -= 1));
  }

  async flush(signal?: AbortSignal): Promise<void> {
    if (signal === undefined) return await this.#tail;
    const stop = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    await this.#tail;
    signal.removeEventListener('abort', stop);
  }
}

/** Sets and keeps the map small: the entry that was set longest ago goes. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > remembered ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
