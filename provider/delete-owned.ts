/** Deleting what a stack made on the hub, and nothing else. */
import type { KubeObject, ResourceType } from '../api/resource.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { awaitGone } from './await-gone.ts';
import { isOurs } from './fleet-object.ts';
import type { Owned } from './fleet-object.ts';
import type { CallContext } from './handler.ts';

/**
 * Deletes the object if it is the one that this stack made, and waits until it is gone. Returns false when there is none
 * of its name, or only somebody else's.
 * @throws MusterError TIMEOUT naming the finalizers that hold it.
 */
export async function deleteOwned<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { metadata, uid, owner }: Pick<Owned, 'metadata' | 'owner'> & { readonly uid: string },
  context: Pick<CallContext, 'signal'>,
): Promise<boolean> {
  const { signal } = context;
  const found = await client.find(type, metadata, { signal });
  if (found === undefined || !isOurs(found, uid, owner)) return false;
  const { uid: live } = found.metadata;
  const only = live === undefined ? {} : { preconditions: { uid: live } };
  await client.delete(type, metadata, { signal, ...only });
  await awaitGone(client, type, metadata, live, context);
  return true;
}
