/** Owner references: who is garbage-collected with whom. */
import type { KubeObject, OwnerReference, ResourceType } from '../../api/resource.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { MusterError } from '../../api/errors.ts';

/** Options of {@link ownerReference}. */
export interface OwnerReferenceOptions {
  /** Mark the owner as the one controller, which also blocks its foreground deletion. Default: false. */
  readonly controller?: boolean;
}

/**
 * The reference that makes the garbage collector delete a dependent after `owner`. The owner must be stored already
 * (it needs a UID) and live in the dependent's namespace or be cluster-scoped.
 */
export function ownerReference(
  type: ResourceType,
  owner: KubeObject,
  options: OwnerReferenceOptions = {},
): OwnerReference {
  const { name, uid } = owner.metadata;
  if (name === undefined || uid === undefined) {
    throw new MusterError('INTERNAL', 'an owner must be stored before it can own', { where: type.kind });
  }
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name,
    uid,
    ...(options.controller ? { controller: true, blockOwnerDeletion: true } : {}),
  };
}

/** Whether `object` names `owner` (by UID) among its owners. */
export function isOwnedBy(object: KubeObject, owner: KubeObject): boolean {
  const uid = owner.metadata.uid;
  return uid !== undefined && (object.metadata.ownerReferences ?? []).some((reference) => reference.uid === uid);
}

/** The owner marked as controller, if any. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}
