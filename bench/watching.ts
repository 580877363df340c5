/** Waiting for one object by a watch, which the hub's request count leaves out. */
import type { KubeObject, ResourceType } from '../api/resource.ts';
import type { KubeClient, ListOptions } from '../runtime/kube/client.ts';

/** When something was seen, by `performance.now()`. */
export interface Sighting<T> {
  readonly object: T;
  readonly at: number;
}

/** Longest wait of any benchmark for one thing. */
const limitMs = 300_000;

/**
 * Starts to watch; resolves once the watch stands. `found` resolves at the first object that matches, among those that
 * are there and those that come; it rejects when none came within five minutes.
 */
export async function firstMatch<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  options: Pick<ListOptions, 'namespace' | 'fieldSelector' | 'labelSelector'>,
  matches: (object: T) => boolean,
): Promise<{ readonly found: Promise<Sighting<T>> }> {
  const { items, resourceVersion } = await client.list(type, options);
  const there = items.find(matches);
  if (there !== undefined) return { found: Promise.resolve({ object: there, at: performance.now() }) };
  const stop = new AbortController();
  const found = async (): Promise<Sighting<T>> => {
    const timer = setTimeout(() => stop.abort(new Error(`no ${type.kind} was as expected within 5 minutes`)), limitMs);
    try {
      const events = client.watch(type, { ...options, resourceVersion, signal: stop.signal });
      for await (const event of events) {
        if (event.type === 'BOOKMARK' || event.type === 'DELETED' || !matches(event.object)) continue;
        return { object: event.object, at: performance.now() };
      }
      throw new Error(`the watch of ${type.plural} ended`);
    } finally {
      clearTimeout(timer);
      stop.abort(new Error('found'));
    }
  };
  const result = found();
  result.catch(() => undefined); // told by whoever awaits it
  return { found: result };
}
