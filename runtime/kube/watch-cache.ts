/** The cache behind `createCache`: one list-and-watch loop that feeds a store and its subscribers. */
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { durations } from '../../api/durations.ts';
import { isMusterError } from '../../api/errors.ts';
import { isApiError, isExpired } from './api-error.ts';
import { backoffMs, pause } from './backoff.ts';
import type { Cache, CacheEvent, CacheOptions } from './cache.ts';
import type { KubeClient, WatchEvent } from './client.ts';
import { freezeDeep } from './freeze.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import { kubeMetrics } from './metrics.ts';
import type { Indexers } from './store.ts';
import { Store } from './store.ts';

export class WatchCache<T extends KubeObject> implements Cache<T> {
  readonly type: ResourceType<T>;
  failure: Error | undefined;
  #client: KubeClient;
  #options: CacheOptions<T>;
  #logger: Logger;
  #store = new Store<T>();
  #handlers = new Set<(event: CacheEvent<T>) => void>();
  #sync = Promise.withResolvers<void>();
  #synced = false;
  /** Where the watch goes on; `undefined` asks for a new list. */
  #version: string | undefined;
  /** Whether the watch that runs now brought an event: then a failure is no sign of a server that refuses us. */
  #progress = false;

  constructor(client: KubeClient, type: ResourceType<T>, options: CacheOptions<T>) {
    this.#client = client;
    this.type = type;
    this.#options = options;
    this.#logger = (options.logger ?? silentLogger).child({ cache: type.plural });
    this.#store.addIndexers(options.indexers ?? {});
  }

  get synced(): boolean {
    return this.#synced;
  }

  async start(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const started = performance.now();
      this.#progress = false;
      try {
        await this.#listAndWatch(signal);
        failures = 0;
        // A server that ends each watch at once must not be asked in a tight loop.
        if (performance.now() - started < durations.watchRetryFirst) failures = 1;
      } catch (error) {
        if (signal.aborted) return;
        const healthy = this.#progress || performance.now() - started > durations.watchHealthy;
        failures = healthy ? 1 : failures + 1;
        this.#failed(error as Error, failures);
      }
      const { watchRetryFirst: baseMs, watchRetryLast: maxMs } = durations;
      await pause(backoffMs(failures, { baseMs, maxMs, jitter: 0.5 }), signal).catch(() => undefined);
    }
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const { namespace, labelSelector, fieldSelector, inactivityMs } = this.#options;
    const selection = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      signal,
    };
    if (this.#version === undefined) {
      const list = await this.#client.list(this.type, selection);
      this.#replaceAll(list.items);
      this.#version = list.resourceVersion;
    }
    const timeout = inactivityMs === undefined ? {} : { timeoutMs: inactivityMs };
    const onOpen = (): void => void (this.failure = undefined);
    const from = { ...selection, ...timeout, resourceVersion: this.#version, onOpen };
    for await (const event of this.#client.watch(this.type, from)) this.#take(event);
  }

  #failed(error: Error, failures: number): void {
    this.failure = error;
    const cause = causeOf(error);
    // An event that cannot be read would come again from the same version for ever.
    if (cause === 'expired' || cause === 'decode') this.#version = undefined;
    this.#options.metrics?.counter(kubeMetrics.watchFailures).inc({ kind: this.type.kind, cause });
    const level = cause === 'expired' || (cause === 'inactive' && failures === 1) ? 'info' : 'warn';
    this.#logger[level]({ cause, failures, reason: error.message }, 'the watch ended in an error');
  }

  #take(event: WatchEvent<T>): void {
    this.#progress = true;
    this.#options.metrics?.counter(kubeMetrics.watchEvents).inc({ kind: this.type.kind, type: event.type });
    if (event.type === 'BOOKMARK') {
      this.#version = event.resourceVersion;
      return;
    }
    const { resourceVersion } = event.object.metadata;
    if (event.type === 'DELETED') this.#remove(keyOf(event.object), this.#keep(event.object));
    else this.#put(event.object, false);
    this.#version = resourceVersion;
    this.#count();
  }

  #replaceAll(items: readonly T[]): void {
    const initial = !this.#synced;
    const gone = new Set(this.#store.keys());
    for (const item of items) {
      gone.delete(keyOf(item));
      this.#put(item, initial);
    }
    for (const key of gone) this.#remove(key);
    this.#count();
    this.#synced = true;
    this.#sync.resolve();
  }

  #put(raw: T, initial: boolean): void {
    const key = keyOf(raw);
    const known = this.#store.get(key);
    if (known !== undefined && known.metadata.resourceVersion === raw.metadata.resourceVersion) return;
    // Deleted and made again while the watch was down: subscribers must see both.
    const remade = known !== undefined && known.metadata.uid !== raw.metadata.uid;
    if (remade) this.#remove(key);
    const object = this.#keep(raw);
    this.#store.set(object);
    if (known === undefined || remade) this.#emit({ type: 'added', object, initial });
    else this.#emit({ type: 'updated', object, previous: known, initial });
  }

  #remove(key: string, last?: T): void {
    const known = this.#store.delete(key);
    if (known !== undefined) this.#emit({ type: 'deleted', object: last ?? known, initial: false });
  }

  #keep(raw: T): T {
    delete raw.metadata.managedFields;
    return freezeDeep(this.#options.transform === undefined ? raw : this.#options.transform(raw));
  }

  #emit(event: CacheEvent<T>): void {
    for (const handler of [...this.#handlers]) this.#deliver(handler, event);
  }

  #deliver(handler: (event: CacheEvent<T>) => void, event: CacheEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#options.metrics?.counter(kubeMetrics.handlerErrors).inc({ kind: this.type.kind });
      this.#logger.error({ error, key: keyOf(event.object), event: event.type }, 'an event handler failed');
    }
  }

  #count(): void {
    this.#options.metrics?.gauge(kubeMetrics.cacheObjects).set({ kind: this.type.kind }, this.#store.size);
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    if (this.#synced) return;
    signal?.throwIfAborted();
    const stop = Promise.withResolvers<never>();
    const abort = (): void => stop.reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#sync.promise, stop.promise]);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  list(namespace?: string): T[] {
    return this.#store.list(namespace);
  }

  byIndex(index: string, value: string): T[] {
    return this.#store.byIndex(index, value);
  }

  addIndexers(indexers: Indexers<T>): void {
    this.#store.addIndexers(indexers);
  }

  subscribe(handler: (event: CacheEvent<T>) => void): () => void {
    this.#handlers.add(handler);
    for (const object of this.#store.list()) this.#deliver(handler, { type: 'added', object, initial: true });
    return () => void this.#handlers.delete(handler);
  }
}

function causeOf(error: Error): 'expired' | 'inactive' | 'decode' | 'api' | 'transport' {
  if (isExpired(error)) return 'expired';
  if (isApiError(error)) return 'api';
  if (isMusterError(error, 'TIMEOUT')) return 'inactive';
  return isMusterError(error) && error.code !== 'NOT_KUBERNETES' ? 'transport' : 'decode';
}
