/** Deleting what was seen, and not what has taken its place since. */
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { isConflict } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { objectKey } from '../../registration/ensure.ts';

/** Deletes this very object; nothing when it is gone, or another one has its name. */
export async function deleteSame<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = object.metadata;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  try {
    await client.delete(type, objectKey(object), { signal, ...preconditions });
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}
