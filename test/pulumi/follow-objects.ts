/** Playing a controller: every object of a kind is answered, now and after each change, whatever the machine is busy with. */
import { isMusterError } from '../../api/errors.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { isExpired, isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';

/** Until the signal aborts. What ends it before is told at once: whoever waits for an answer would wait in vain. */
export async function followObjects<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  answer: (object: T) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { items, resourceVersion } = await client.list(type, { signal });
      for (const item of items) await answer(item);
      for await (const event of client.watch(type, { resourceVersion, signal })) {
        if (event.type === 'ADDED' || event.type === 'MODIFIED') await answer(event.object);
      }
    } catch (error) {
      if (signal.aborted || isPassing(error)) continue;
      console.error(`nobody answers ${type.plural} any more:`, error);
      throw error;
    }
  }
}

/**
 * A busy machine may be late with an answer. Expired: of kinds that have just been defined, the API server forgets the
 * first versions.
 */
function isPassing(error: unknown): boolean {
  return isNotFound(error) || isExpired(error) || isMusterError(error, 'UNREACHABLE', 'TIMEOUT');
}
