/**
 * Reads one's own writes: a cache lags some milliseconds behind what this process has just written, and a reconcile that
 * reads the old state would do its work a second time.
 */
import type { KubeObject } from '../../../api/resource.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Cache } from '../../kube/cache.ts';

export interface Overlay<T extends KubeObject> {
  /** The newest state known: from the cache, or what was written since. */
  get(key: string): T | undefined;
  /** As the cache's, each object in its newest state; finds new objects too once the cache has them. */
  byIndex(index: string, value: string): T[];
  /** The answer of a write. */
  remember(object: T): void;
  /** Resolves when the cache shows what was remembered of `key`, or after `limitMs`. */
  caughtUp(key: string, limitMs: number): Promise<void>;
  /** The newest state of `key` once it is as `isIt` says; `undefined` after `limitMs`. Rejects with the signal's reason. */
  until(key: string, isIt: (object: T) => boolean, limitMs: number, signal: AbortSignal): Promise<T | undefined>;
}

export function createOverlay<T extends KubeObject>(cache: Cache<T>): Overlay<T> {
  const written = new Map<string, T>();
  const waiting = new Map<string, (() => void)[]>();
  const looking = new Map<string, Set<() => void>>();
  const look = (key: string): void => looking.get(key)?.forEach((each) => each());
  cache.subscribe(({ type, object }) => {
    const key = keyOf(object);
    look(key);
    const mine = written.get(key);
    if (mine === undefined) return;
    if (type === 'deleted' ? isOtherIncarnation(mine, object) : version(object) < version(mine)) return;
    written.delete(key);
    for (const resolve of waiting.get(key) ?? []) resolve();
    waiting.delete(key);
  });
  const newest = (key: string, cached: T | undefined): T | undefined => {
    const mine = written.get(key);
    return mine !== undefined && (cached === undefined || version(mine) > version(cached)) ? mine : cached;
  };
  const get = (key: string): T | undefined => newest(key, cache.get(key));
  return {
    get,
    byIndex: (index, value) => cache.byIndex(index, value).map((object) => newest(keyOf(object), object) ?? object),
    remember: (object) => {
      const cached = cache.get(keyOf(object));
      if (cached === undefined || version(object) > version(cached)) written.set(keyOf(object), object);
      look(keyOf(object));
    },
    caughtUp: async (key, limitMs) => {
      if (!written.has(key)) return;
      await new Promise<void>((resolve) => {
        const limit = setTimeout(resolve, limitMs);
        const seen = (): void => {
          clearTimeout(limit);
          resolve();
        };
        waiting.set(key, [...(waiting.get(key) ?? []), seen]);
      });
    },
    until: async (key, isIt, limitMs, signal) => {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
      const lookers = looking.get(key) ?? new Set();
      const seen = (): void => {
        const object = get(key);
        if (object !== undefined && isIt(object)) resolve(object);
      };
      const stop = (): void => reject(signal.reason as Error);
      const limit = setTimeout(() => resolve(undefined), limitMs);
      signal.addEventListener('abort', stop, { once: true });
      looking.set(key, lookers.add(seen));
      seen();
      try {
        return await promise;
      } finally {
        clearTimeout(limit);
        signal.removeEventListener('abort', stop);
        lookers.delete(seen);
        if (lookers.size === 0) looking.delete(key);
      }
    },
  };
}

/** A deletion that the cache reports late may be of the object that the written one has replaced. */
function isOtherIncarnation(mine: KubeObject, deleted: KubeObject): boolean {
  return mine.metadata.uid !== deleted.metadata.uid;
}

/** Versions of one kind are numbers that grow (documented since Kubernetes 1.35, true since 1.0). */
function version(object: KubeObject): number {
  return Number(object.metadata.resourceVersion ?? 0);
}
