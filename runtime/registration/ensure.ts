/** Makes one object of a grant: one request when it is new, and never takes over what is not ours. */
import { MusterError } from '../../api/errors.ts';
import type { KubeObject, ObjectKey } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { isAlreadyExists, isConflict, isInvalid } from '../kube/api-error.ts';
import { covers } from '../kube/apply.ts';
import type { KubeClient } from '../kube/client.ts';
import type { GrantObject } from './types.ts';

export interface EnsureOptions {
  readonly fieldManager: string;
  /** Whether an object that is there already may be brought into shape; else it must be as wanted. */
  readonly ours: (object: KubeObject) => boolean;
  readonly signal?: AbortSignal;
}

/**
 * Creates the object. When one of its name exists: nothing if it carries all that is wanted, else it is corrected if it
 * is ours. Throws ALREADY_OWNED when it belongs to someone else; asking again helps only after that one has gone.
 */
export async function ensureObject<T extends KubeObject>(
  client: KubeClient,
  { type, object }: GrantObject<T>,
  options: EnsureOptions,
): Promise<T> {
  const call = { ...(options.signal ? { signal: options.signal } : {}), fieldManager: options.fieldManager };
  for (;;) {
    try {
      return await client.create(type, object, call);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const current = await client.find(type, objectKey(object), call);
    if (current === undefined) continue; // deleted between the two calls
    if (covers(current, object)) return current;
    const where = `${type.kind} ${keyOf(object)}`;
    if (!options.ours(current)) {
      throw new MusterError('ALREADY_OWNED', "an object of this name exists and is not muster's", {
        where,
        hint: 'Delete or rename it.',
      });
    }
    try {
      return await client.apply(type, object, call);
    } catch (error) {
      // what a binding refers to is immutable, so a wrong one has to go
      if (!isInvalid(error) && !isConflict(error)) throw error;
      const { uid } = current.metadata;
      await client.delete(type, objectKey(object), { ...call, ...(uid ? { preconditions: { uid } } : {}) });
    }
  }
}

/** Name and namespace of an object as a key. */
export function objectKey(object: KubeObject): ObjectKey {
  const { name = '', namespace } = object.metadata;
  return namespace === undefined ? { name } : { name, namespace };
}
