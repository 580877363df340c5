/**
 * Outputs inside the arguments of a component: found where they stand, and replaced by values that are known. The
 * manifests are made by plain functions; which objects there are must be known when the program runs, while a value in one
 * of them may come later, from a resource that is still to be made.
 */
import { output, Output } from '@pulumi/pulumi';
import { formatPath } from '../../api/validate.ts';
import { standInsFor } from './stand-ins.ts';

export type Path = readonly (string | number)[];

/** One output inside the arguments. */
export interface Hole {
  readonly path: Path;
  readonly value: Output<unknown>;
  /** Two values that could stand there: what differs between them in the result depends on the output. */
  readonly standIns: readonly [unknown, unknown];
}

/** Every output inside `value`, promises included. */
export function findHoles(value: unknown, path: Path = []): Hole[] {
  if (Output.isInstance(value) || value instanceof Promise) {
    return [{ path, value: output(value as Output<unknown>), standIns: standInsFor(path) }];
  }
  return entriesOf(value).flatMap(([key, member]) => findHoles(member, [...path, key]));
}

/** A copy of `value` with the first of `values` at the first place, and so on. */
export function withMembers(
  value: unknown,
  places: readonly { readonly path: Path }[],
  values: readonly unknown[],
): unknown {
  return copy(value, [], new Map(places.map(({ path }, index) => [formatPath(path), values[index]])));
}

function copy(value: unknown, path: Path, at: ReadonlyMap<string, unknown>): unknown {
  const place = formatPath(path);
  if (at.has(place)) return at.get(place);
  if (Array.isArray(value)) return value.map((member, index) => copy(member, [...path, index], at));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copy(member, [...path, key], at)]));
}

/** The member at `path`; undefined where there is none. */
export function memberAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[key] : undefined),
    value,
  );
}

/**
 * The shortest list of places where the two differ. Where they have other members, or lists of other lengths, the place is
 * the object or list as a whole.
 */
export function differences(a: unknown, b: unknown, path: Path = []): Path[] {
  if (a === b) return [];
  const left = entriesOf(a);
  const right = entriesOf(b);
  const alike = isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b);
  if (!alike || left.length !== right.length || left.some(([key]) => memberAt(b, [key]) === undefined)) return [path];
  return left.flatMap(([key, member]) => differences(member, memberAt(b, [key]), [...path, key]));
}

function entriesOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((member: unknown, index) => [index, member]);
  return isRecord(value) ? Object.entries(value).filter(([, member]) => member !== undefined) : [];
}

const isContainer = (value: unknown): boolean => Array.isArray(value) || isRecord(value);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
