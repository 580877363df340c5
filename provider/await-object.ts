/** Waiting for one object to reach a state: by a watch, so that the answer comes when it happens. */
import { setTimeout as delay } from 'node:timers/promises';
import { durations } from '../api/durations.ts';
import type { KubeObject, ObjectKey, ResourceType } from '../api/resource.ts';
import { isExpired } from '../runtime/kube/api-error.ts';
import type { KubeClient } from '../runtime/kube/client.ts';

/** Options of {@link awaitObject}. */
export interface AwaitOptions<T> {
  readonly signal: AbortSignal;
  /** Called with every version seen, undefined while the object is not there. */
  readonly onChange?: (object: T | undefined) => void;
}

/**
 * Resolves with the first version for which `until` is true; the version is undefined while the object does not exist.
 * Rejects with the signal's reason. Survives broken connections and expired versions.
 */
export async function awaitObject<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  key: ObjectKey,
  until: (object: T | undefined) => boolean,
  { signal, onChange }: AwaitOptions<T>,
): Promise<T | undefined> {
  const scope = {
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    fieldSelector: `metadata.name=${key.name}`,
    signal,
  };
  for (;;) {
    signal.throwIfAborted();
    const { items, resourceVersion } = await client.list(type, scope);
    const found = items[0];
    onChange?.(found);
    if (until(found)) return found;
    try {
      for await (const event of client.watch(type, { ...scope, resourceVersion })) {
        if (event.type === 'BOOKMARK') continue;
        const object = event.type === 'DELETED' ? undefined : event.object;
        onChange?.(object);
        if (until(object)) return object;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isExpired(error)) await delay(durations.providerRewatch, undefined, { signal });
    }
  }
}
