/** What the runtime needs to know of a kind to address it: group, version, plural and scope. No schema, no zod. */

/** A Kubernetes owner reference. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Object metadata as the API server returns it; `managedFields` are stripped by the cache. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

/** Any object of the Kubernetes API. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Name, and namespace unless the kind is cluster-scoped. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** Addresses one kind. `T` is the object's type; it exists for the compiler only. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case plural, as in the URL. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Phantom: never set. */
  readonly objectType?: T;
}

/** `v1` for the core group, else `group/version`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of work queues and caches. */
export function keyOf(object: KubeObject | ObjectKey): string {
  const meta: { namespace?: string; name?: string } = 'metadata' in object ? object.metadata : object;
  return meta.namespace ? `${meta.namespace}/${meta.name ?? ''}` : (meta.name ?? '');
}

/** The inverse of {@link keyOf}. */
export function parseKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
