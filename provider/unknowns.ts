/**
 * Values that are not known yet. During a preview, an input that depends on a resource still to be made arrives as a
 * marker text, alone or nested anywhere.
 */

import { formatPath } from '../api/validate.ts';

/** Source: Pulumi's Node.js SDK, `runtime.unknownValue`. It is part of the engine's wire format. */
export const unknownValue = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

export function isUnknown(value: unknown): boolean {
  return value === unknownValue;
}

/** Whether `value` is unknown or holds something unknown at any depth. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isUnknown(value);
  return Object.values(value).some(hasUnknown);
}

/** Paths (`a.b[0]`) of everything unknown in `value`. */
export function unknownPaths(value: unknown): string[] {
  return [...unknownParts(value, [])].map(formatPath);
}

function* unknownParts(value: unknown, path: readonly PropertyKey[]): Iterable<readonly PropertyKey[]> {
  if (isUnknown(value)) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    yield* unknownParts(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/**
 * Whether two values differ. What is unknown on either side is taken as different: it may be, and the engine asks again
 * when it is known.
 */
export function differs(a: unknown, b: unknown): boolean {
  if (isUnknown(a) || isUnknown(b)) return true;
  if (isEmpty(a) && isEmpty(b)) return false;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a !== b;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return true;
    return a.some((item, index) => differs(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].some((key) => differs(left[key], right[key]));
}

/** Pulumi drops undefined and keeps null; for us an absent value, null and an empty object say the same. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0;
}
