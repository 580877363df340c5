/** URLs of the Kubernetes API. */
import type { ObjectKey, ResourceType } from '../../api/resource.ts';
import { MusterError } from '../../api/errors.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Path of all objects of a kind, in one namespace or in all. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = type.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${root}${scope}/${type.plural}`;
}

/** Path of one object. Throws MusterError INVALID_ARGUMENT when name or namespace is missing. */
export function objectPath(type: ResourceType, key: ObjectKey, subresource?: string): string {
  if (key.name === '') throw missing(type, 'name');
  if (type.namespaced && (key.namespace ?? '') === '') throw missing(type, 'namespace');
  const path = `${collectionPath(type, key.namespace)}/${segment(key.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** `path?a=1&b=2`, without what is undefined. */
export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** A name can come from another cluster, so it must not reach into another path. */
function segment(name: string): string {
  if (name === '.' || name === '..') throw new MusterError('INVALID_ARGUMENT', 'is no name', { where: name });
  return encodeURIComponent(name);
}

function missing(type: ResourceType, what: string): MusterError {
  return new MusterError('INVALID_ARGUMENT', `has no ${what}`, { where: type.kind });
}
