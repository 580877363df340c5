/** Waiting until an object is gone, and naming what holds it when it does not go. */
import { MusterError } from '../api/errors.ts';
import type { KubeObject, ObjectKey, ResourceType } from '../api/resource.ts';
import { keyOf } from '../api/resource.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { awaitObject } from './await-object.ts';
import type { CallContext } from './handler.ts';

/** What else is to be made of what is seen while waiting. */
export interface GoneOptions<T> {
  /** What the last version says of what holds it, for the error. Default: {@link namespaceDetails}. */
  readonly details?: (object: T) => string | undefined;
  /** Told of each version. */
  readonly onChange?: (object: T | undefined) => void;
}

/**
 * Resolves when the object is gone, or has been made anew under another UID than `uid`.
 * @throws MusterError TIMEOUT naming the finalizers that hold it and the details of its last version.
 */
export async function awaitGone<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  key: ObjectKey,
  uid: string | undefined,
  { signal }: Pick<CallContext, 'signal'>,
  { details = namespaceDetails, onChange }: GoneOptions<T> = {},
): Promise<void> {
  let last: T | undefined;
  const note = (object: T | undefined): void => {
    last = object;
    onChange?.(object);
  };
  const gone = (object: T | undefined): boolean =>
    object === undefined || (uid !== undefined && object.metadata.uid !== uid);
  try {
    await awaitObject(client, type, key, gone, { signal, onChange: note });
  } catch (error) {
    if (!signal.aborted) throw error;
    const finalizers = last?.metadata.finalizers ?? [];
    const holder =
      finalizers.length === 0 ? 'nothing names what holds it' : `held by finalizers ${finalizers.join(', ')}`;
    const more = last === undefined ? undefined : details(last);
    throw new MusterError('TIMEOUT', `it is still there, ${holder}${more ? `: ${more}` : ''}`, {
      where: `${type.kind} ${keyOf(key)}`,
      hint: 'See that the hub (and the agent) run, then repeat; timeouts.delete gives more time.',
      retryable: true,
    });
  }
}

/** What Kubernetes itself writes while a namespace or definition is being emptied. */
export function namespaceDetails(object: KubeObject): string | undefined {
  const status = (object as { status?: { conditions?: { status?: string; type?: string; message?: string }[] } })
    .status;
  const telling = (status?.conditions ?? []).filter(
    ({ type, status: value, message }) =>
      value === 'True' && message && /Remaining|Failure|Terminating/.test(type ?? ''),
  );
  return telling.length === 0 ? undefined : telling.map(({ message }) => message).join('; ');
}
