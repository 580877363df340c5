/**
 * A local copy of one kind, kept current by a watch (client-go's reflector and informer in one): a paged list, then a
 * watch with bookmarks from there on. A lost watch goes on from the last version seen; when that is too old (410), the
 * list is read again and compared, so that subscribers hear of everything that happened meanwhile, deletions included.
 */
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import type { KubeClient } from './client.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Indexers } from './store.ts';
import { WatchCache } from './watch-cache.ts';

export type { Indexers } from './store.ts';

/** One change of a cache, in the order in which the API server reported it. */
export interface CacheEvent<T extends KubeObject = KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  /** The object now; for `deleted` its last known state. */
  readonly object: T;
  /** The state before; only for `updated`. */
  readonly previous?: T;
  /** Part of the first list (or of a late subscriber's catch-up) and not a change that just happened. */
  readonly initial: boolean;
}

/** Options of {@link createCache}. */
export interface CacheOptions<T extends KubeObject> {
  /** One namespace; all namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly indexers?: Indexers<T>;
  /** Shrinks an object before it is kept (memory); it must keep apiVersion, kind and metadata. */
  readonly transform?: (object: T) => T;
  /** Silence after which a watch is held to be half-open, in milliseconds. Default: `durations.watchInactivity`. */
  readonly inactivityMs?: number;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

/** A local copy of one kind. Objects are frozen and carry no managedFields. */
export interface Cache<T extends KubeObject = KubeObject> {
  readonly type: ResourceType<T>;
  /** Whether the first list has been taken in. Stays true while a lost watch is being restored. */
  readonly synced: boolean;
  /** What keeps list or watch from working now; `undefined` while they do. */
  readonly failure: Error | undefined;
  /** Runs until the signal aborts, whatever happens to the connection; resolves then. Call once. */
  start(signal: AbortSignal): Promise<void>;
  /** Resolves when `synced`; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** By `namespace/name` (or `name`), see `keyOf`. */
  get(key: string): T | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): T[];
  /** Objects that the named indexer files under `value`. Throws MusterError INTERNAL for an unknown index. */
  byIndex(index: string, value: string): T[];
  /** Adds indexers; those of a name that exists are ignored. */
  addIndexers(indexers: Indexers<T>): void;
  /**
   * Calls `handler` for each change, after the cache has taken it in. Objects that are there already are delivered at
   * once as `added`, `initial`. An exception of a handler is logged and counted, nothing else. Returns the unsubscribe.
   */
  subscribe(handler: (event: CacheEvent<T>) => void): () => void;
}

/** A cache that is empty until `start`. */
export function createCache<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  options: CacheOptions<T> = {},
): Cache<T> {
  return new WatchCache(client, type, options);
}
