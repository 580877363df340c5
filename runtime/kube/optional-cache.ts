/**
 * A cache of a kind that may not be installed. It watches the kind's CustomResourceDefinition by name: while that is not
 * there the cache is synced and empty and costs one idle watch; when it appears, the objects come as `added`; when it
 * goes, they are told as `deleted`. Of several versions the first that is served is used, and a change of it is no news
 * for subscribers.
 */
import { MusterError } from '../../api/errors.ts';
import type { CustomResourceDefinition } from '../../api/kubernetes/workloads.ts';
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { apiVersionOf, keyOf } from '../../api/resource.ts';
import type { Cache, CacheEvent, CacheOptions, Indexers } from './cache.ts';
import { createCache } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import type { Manager } from './manager.ts';
import { servedOnly, servedVersions } from './served-versions.ts';

/** {@link Cache} of a kind that comes and goes; `start`, `whenSynced` and events as there. */
export interface OptionalCache<T extends KubeObject = KubeObject> extends Cache<T> {
  /** The version in use; the first of those asked for while none is served. */
  readonly type: ResourceType<T>;
  /** Whether the kind is installed and served. False also until that is known. */
  readonly installed: boolean;
  /** Calls `handler` after each change of `installed` or `type`; returns the unsubscribe. */
  onInstalled(handler: (installed: boolean) => void): () => void;
}

/**
 * The cache of one kind, in the versions that the caller can read, best first. Started and stopped with the manager, on
 * leaders and others; give it to several controllers instead of making a second one. The process needs the right to get,
 * list and watch the CustomResourceDefinition of that name.
 */
export function addOptionalCache<T extends KubeObject>(
  manager: Manager,
  types: readonly ResourceType<T>[],
  options: Omit<CacheOptions<T>, 'logger' | 'metrics'> = {},
): OptionalCache<T> {
  const { client, logger, metrics } = manager;
  const cache = createOptionalCache(client, types, { ...options, logger, ...(metrics ? { metrics } : {}) });
  manager.addRunnable({ name: `cache ${cache.type.plural}`, needsLeader: false, run: (signal) => cache.start(signal) });
  return cache;
}

/** As {@link addOptionalCache}, without a manager. Throws INTERNAL unless `types` are versions of one kind. */
export function createOptionalCache<T extends KubeObject>(
  client: KubeClient,
  types: readonly ResourceType<T>[],
  options: CacheOptions<T> = {},
): OptionalCache<T> {
  return new KindCache(client, types, options);
}

/** One version that is being cached. */
interface Running<T extends KubeObject> {
  readonly type: ResourceType<T>;
  readonly cache: Cache<T>;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  unsubscribe: () => void;
}

class KindCache<T extends KubeObject> implements OptionalCache<T> {
  #client: KubeClient;
  #types: readonly ResourceType<T>[];
  #first: ResourceType<T>;
  #options: CacheOptions<T>;
  #logger: Logger;
  #indexers: Record<string, (object: T) => string[]>;
  #definition: Cache<CustomResourceDefinition>;
  /** What reads are answered from. */
  #current: Running<T> | undefined;
  /** Another version, until its first list is there. */
  #next: Running<T> | undefined;
  #handlers = new Set<(event: CacheEvent<T>) => void>();
  #watchers = new Set<(installed: boolean) => void>();
  #past: Promise<void>[] = [];

  constructor(client: KubeClient, types: readonly ResourceType<T>[], options: CacheOptions<T>) {
    const [first] = types;
    const name = (type: ResourceType): string => `${type.plural}.${type.group}`;
    if (first === undefined || types.some((type) => name(type) !== name(first))) {
      throw new MusterError('INTERNAL', 'an optional cache takes versions of one kind', { where: first?.kind ?? '' });
    }
    this.#client = client;
    this.#types = types;
    this.#first = first;
    this.#options = options;
    this.#indexers = { ...options.indexers };
    this.#logger = (options.logger ?? silentLogger).child({ kind: first.kind });
    this.#definition = createCache(client, CustomResourceDefinitions, {
      fieldSelector: `metadata.name=${name(first)}`,
      transform: servedOnly,
      ...(options.logger ? { logger: options.logger } : {}),
    });
    this.#definition.subscribe(({ type, object }) => this.#follow(type === 'deleted' ? undefined : this.#best(object)));
  }

  get type(): ResourceType<T> {
    return this.#current?.type ?? this.#first;
  }

  get installed(): boolean {
    return this.#current !== undefined;
  }

  get synced(): boolean {
    return this.#definition.synced && this.#current?.cache.synced !== false;
  }

  get failure(): Error | undefined {
    return this.#definition.failure ?? this.#current?.cache.failure;
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#definition.start(signal);
    for (const running of [this.#current, this.#next]) running?.stop.abort(signal.reason);
    await Promise.all([this.#current?.ended, this.#next?.ended, ...this.#past]);
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    await this.#definition.whenSynced(signal);
    // the kind may go, or change its version, while its first list is awaited
    while (!this.synced) {
      const waiting = this.#current;
      await Promise.race([waiting?.cache.whenSynced(signal), waiting?.ended]);
      signal?.throwIfAborted();
    }
  }

  get(key: string): T | undefined {
    return this.#current?.cache.get(key);
  }

  list(namespace?: string): T[] {
    return this.#current?.cache.list(namespace) ?? [];
  }

  byIndex(index: string, value: string): T[] {
    if (!(index in this.#indexers)) throw new MusterError('INTERNAL', 'there is no such index', { where: index });
    return this.#current?.cache.byIndex(index, value) ?? [];
  }

  addIndexers(indexers: Indexers<T>): void {
    this.#indexers = { ...indexers, ...this.#indexers };
    for (const running of [this.#current, this.#next]) running?.cache.addIndexers(indexers);
  }

  subscribe(handler: (event: CacheEvent<T>) => void): () => void {
    this.#handlers.add(handler);
    for (const object of this.list()) this.#deliver(handler, { type: 'added', object, initial: true });
    return () => void this.#handlers.delete(handler);
  }

  onInstalled(handler: (installed: boolean) => void): () => void {
    this.#watchers.add(handler);
    return () => void this.#watchers.delete(handler);
  }

  /** The first of the wanted versions that the API server serves. */
  #best(definition: CustomResourceDefinition): ResourceType<T> | undefined {
    const served = servedVersions(definition);
    return this.#types.find(({ version }) => served.includes(version));
  }

  #follow(type: ResourceType<T> | undefined): void {
    if (type === (this.#next ?? this.#current)?.type) return;
    if (this.#next !== undefined) this.#end(this.#next);
    this.#next = undefined;
    if (type === undefined) return this.#adopt(undefined);
    if (type === this.#current?.type) return;
    const running = this.#run(type);
    if (this.#current === undefined) return this.#adopt(running);
    // the old version answers reads until the new one can
    this.#next = running;
    void running.cache.whenSynced(running.stop.signal).then(
      () => this.#adopt(running),
      () => undefined,
    );
  }

  #run(type: ResourceType<T>): Running<T> {
    const stop = new AbortController();
    const cache = createCache(this.#client, type, { ...this.#options, indexers: this.#indexers });
    return { type, cache, stop, ended: cache.start(stop.signal), unsubscribe: () => undefined };
  }

  #adopt(running: Running<T> | undefined): void {
    const before = new Map((this.#current?.cache.list() ?? []).map((object) => [keyOf(object), object]));
    if (this.#current !== undefined) this.#end(this.#current);
    this.#current = running;
    this.#next = undefined;
    if (running !== undefined) {
      running.unsubscribe = running.cache.subscribe((event) => {
        const previous = before.get(keyOf(event.object));
        before.delete(keyOf(event.object));
        const same = previous?.metadata.uid === event.object.metadata.uid;
        if (previous !== undefined && !same) this.#emit({ type: 'deleted', object: previous, initial: false });
        if (previous === undefined || !same) this.#emit(event);
        else if (previous.metadata.resourceVersion !== event.object.metadata.resourceVersion) {
          this.#emit({ type: 'updated', object: event.object, previous, initial: false });
        }
      });
    }
    for (const object of before.values()) this.#emit({ type: 'deleted', object, initial: false });
    before.clear();
    const version = running === undefined ? undefined : apiVersionOf(running.type);
    this.#logger.info({ version }, running === undefined ? 'the kind is not served any more' : 'the kind is served');
    for (const watcher of [...this.#watchers]) watcher(running !== undefined);
  }

  #end(running: Running<T>): void {
    running.unsubscribe();
    running.stop.abort(new Error('the kind is not served in this version'));
    this.#past.push(running.ended);
    void running.ended.then(() => void (this.#past = this.#past.filter((ended) => ended !== running.ended)));
  }

  #emit(event: CacheEvent<T>): void {
    for (const handler of [...this.#handlers]) this.#deliver(handler, event);
  }

  #deliver(handler: (event: CacheEvent<T>) => void, event: CacheEvent<T>): void {
    try {
      handler(event);
    } catch (error) {
      this.#logger.error({ error, key: keyOf(event.object), event: event.type }, 'an event handler failed');
    }
  }
}
