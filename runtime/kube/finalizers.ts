/** Finalizers: work that must be done before an object may go. Changed one at a time, so that nobody else's is lost. */
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import type { CallOptions, KubeClient } from './client.ts';

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Adds the finalizer; no request when it is there. Throws `ApiError` 409 when the object changed meanwhile. */
export async function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object;
  return await setFinalizers(client, type, object, [...(object.metadata.finalizers ?? []), finalizer], options);
}

/**
 * Removes the finalizer; no request when it is not there. Throws `ApiError` 409 when the object changed meanwhile and
 * 404 when it has gone.
 */
export async function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T> {
  if (!hasFinalizer(object, finalizer)) return object;
  const kept = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return await setFinalizers(client, type, object, kept, options);
}

/** A merge patch replaces the list whole, so the resourceVersion goes with it: a concurrent change must not be undone. */
async function setFinalizers<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  finalizers: string[],
  options: CallOptions,
): Promise<T> {
  const { name, namespace, resourceVersion } = object.metadata;
  const key = { name: name ?? '', ...(namespace === undefined ? {} : { namespace }) };
  return await client.patch(type, key, { metadata: { finalizers, resourceVersion } }, { ...options, type: 'merge' });
}
