/** Server-side apply that costs no request when nothing would change. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import type { ApplyOptions, KubeClient } from './client.ts';

/**
 * Whether `current` carries every field of `wanted`. Objects are compared field by field and may have more fields;
 * lists must be equal in length and order, element by element, because a shorter wanted list is a removal. Absent,
 * `undefined`, empty lists and empty objects are the same: the API server drops them.
 */
export function covers(current: unknown, wanted: unknown): boolean {
  if (isEmpty(wanted)) return isEmpty(current) || !Array.isArray(wanted);
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(current) &&
      current.length === wanted.length &&
      wanted.every((item, index) => covers(current[index], item))
    );
  }
  if (isRecord(wanted)) {
    return isRecord(current) && Object.entries(wanted).every(([key, value]) => covers(current[key], value));
  }
  return isDeepStrictEqual(current, wanted);
}

/**
 * Applies `wanted` unless `current` (from a cache; `undefined` = not there) already carries every wanted field, and
 * returns the stored object. A field that an earlier apply set and that `wanted` no longer has is not noticed this way:
 * set it to an explicit value, or call `client.apply`.
 */
export async function applyIfChanged<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  wanted: T,
  current: T | undefined,
  fieldManager: string,
  options: Omit<ApplyOptions, 'fieldManager'> = {},
): Promise<T> {
  if (current !== undefined && carries(current, wanted)) return current;
  return await client.apply(type, wanted, { ...options, fieldManager });
}

/** `covers` for whole objects: a Secret's `stringData` is write-only, so it is compared as `data`. */
function carries(current: KubeObject, wanted: KubeObject): boolean {
  const { stringData, ...rest } = wanted as KubeObject & { stringData?: Record<string, string> };
  if (stringData === undefined) return covers(current, wanted);
  const encoded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const data = { ...(rest as { data?: Record<string, string> }).data, ...encoded };
  return covers(current, { ...rest, data });
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
