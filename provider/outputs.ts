/**
 * The border to Pulumi's wire format. A single `undefined`, NaN, Date or class instance in what a provider returns fails
 * the whole call, after the object has been made; so everything that leaves is rebuilt here as plain JSON.
 */
import { MusterError } from '../api/errors.ts';

/**
 * A plain copy of `value`: undefined members are left out.
 * @throws MusterError INTERNAL for what the wire cannot carry (NaN, infinity, functions, symbols, bigints, class instances).
 */
export function plain<T extends object>(value: T): T {
  return copy(value, '') as T;
}

function copy(value: unknown, path: string): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => copy(item ?? null, `${path}[${index}]`));
  if (typeof value === 'object') {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return copyRecord(value as Record<string, unknown>, path);
  }
  throw new MusterError('INTERNAL', `a ${describe(value)} cannot be stored in Pulumi's state`, { where: path });
}

function copyRecord(value: Record<string, unknown>, path: string): Record<string, unknown> {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  // not by assignment, which takes a member named __proto__ for the prototype
  return Object.fromEntries(members.map(([key, member]) => [key, copy(member, path === '' ? key : `${path}.${key}`)]));
}

function describe(value: unknown): string {
  if (typeof value !== 'object') return typeof value === 'number' ? String(value) : typeof value;
  return value?.constructor.name ?? 'value';
}
