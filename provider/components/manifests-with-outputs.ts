/** Manifests out of arguments with outputs in them: each output reaches only the fields that depend on it. */
import { all, RunError } from '@pulumi/pulumi';
import type { Output } from '@pulumi/pulumi';
import { z } from 'zod';
import { isMusterError, MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { formatPath } from '../../api/validate.ts';
import type { Props } from '../handler.ts';
import { failuresOf } from '../inputs.ts';
import { unknownValue } from '../unknowns.ts';
import { differences, findHoles, memberAt, withMembers } from './holes.ts';
import type { Hole, Path } from './holes.ts';
import type { OpenObject } from './open-args.ts';

/** How arguments become manifests. */
export interface ManifestMaker<A extends object> {
  /** Schemas of the arguments. */
  readonly fields: z.ZodRawShape;
  /** The manifests of arguments without outputs; equal arguments give equal manifests. */
  readonly make: (args: A) => KubeObject[];
  /** Paths of arguments that cannot be outputs, because they decide which objects or fields there are. */
  readonly plain: readonly string[];
}

/**
 * Which fields depend on an output is found out by making the manifests with two different values in its place. So a
 * preview shows every object, with exactly those fields open that nobody can know yet, and a secret stays out of the others.
 *
 * @throws RunError for arguments that are refused; later, through the outputs, for values that are.
 */
export function manifestsWithOutputs<A extends object>(
  where: string,
  args: object,
  { fields, make, plain }: ManifestMaker<A>,
): OpenObject[] {
  const holes = findHoles(args);
  const early = holes.find(({ path }) => plain.some((name) => `${formatPath(path)}.`.startsWith(`${name}.`)));
  if (early !== undefined) throw refusal(where, [early]);
  const schema = z.strictObject(fields);
  const check = (values: readonly unknown[]): void => {
    const failures = failuresOf(schema, withMembers(args, holes, values) as Props);
    if (failures.length === 0) return;
    const list = failures.map(({ property, reason }) => `${property}: ${reason}`).join('; ');
    throw new RunError(new MusterError('INVALID_ARGUMENT', list, { where }).describe());
  };
  check(holes.map(() => unknownValue));
  const standIns = holes.map(({ standIns: [first] }) => first);
  const made = (values: readonly unknown[]): KubeObject[] =>
    tell(where, () => make(withMembers(args, holes, values) as A));
  const base = made(standIns);
  const names = base.map(nameOf);
  const open = base.map((): OpenPlace[] => []);

  holes.forEach((hole, index) => {
    const other = made(standIns.with(index, hole.standIns[1]));
    if (!sameNames(names, other)) throw refusal(where, [hole]);
    other.forEach((object, at) => {
      for (const path of differences(base[at], object)) addPlace(open[at] ?? [], wholeList(path), index);
    });
  });

  // One computation for all places that depend on the same outputs.
  const known = new Map<string, Output<KubeObject[]>>();
  const resolved = (indexes: readonly number[]): Output<KubeObject[]> => {
    const id = indexes.join();
    const found = known.get(id);
    if (found !== undefined) return found;
    const used = indexes.map((index) => holes[index]).filter((hole) => hole !== undefined);
    const result = all(used.map(({ value }) => value)).apply((values) => {
      const orElse = (others: readonly unknown[]): unknown[] =>
        others.map((other, index) => (indexes.includes(index) ? values[indexes.indexOf(index)] : other));
      check(orElse(holes.map(() => unknownValue)));
      const objects = made(orElse(standIns));
      if (!sameNames(names, objects)) throw refusal(where, used);
      return objects;
    });
    known.set(id, result);
    return result;
  };

  return base.map((object, at) => {
    const places = open[at] ?? [];
    const values = places.map(({ path, holes: indexes }) =>
      resolved([...indexes].sort((a, b) => a - b)).apply((objects) => memberAt(objects[at], path)),
    );
    const { apiVersion, kind, metadata } = object;
    const fields = withMembers(object, places, values) as Record<string, unknown>;
    return { apiVersion, kind, name: metadata.name ?? '', namespace: metadata.namespace, fields };
  });
}

/** A place in an object, and the outputs that it depends on by their number. */
interface OpenPlace {
  path: Path;
  readonly holes: Set<number>;
}

/** Lists that are put in order: an item of theirs may be in another place for another value. */
const sorted: readonly unknown[] = ['tolerations', 'imagePullSecrets'];

function wholeList(path: Path): Path {
  const at = path.findIndex((key) => sorted.includes(key));
  return at < 0 ? path : path.slice(0, at + 1);
}

/** Places inside each other become the outer one. */
function addPlace(places: OpenPlace[], path: Path, hole: number): void {
  const met = places.filter((place) => isInside(place.path, path) || isInside(path, place.path));
  const outer = met.reduce<Path>(
    (shortest, place) => (place.path.length < shortest.length ? place.path : shortest),
    path,
  );
  const holes = new Set([hole, ...met.flatMap((place) => [...place.holes])]);
  for (const place of met) places.splice(places.indexOf(place), 1);
  places.push({ path: outer, holes });
}

const isInside = (path: Path, outer: Path): boolean => outer.every((key, index) => path[index] === key);

const nameOf = (object: KubeObject): string => `${object.kind} ${keyOf(object)}`;

function sameNames(names: readonly string[], objects: readonly KubeObject[]): boolean {
  return names.length === objects.length && objects.every((object, index) => nameOf(object) === names[index]);
}

function refusal(where: string, holes: readonly Hole[]): RunError {
  const error = new MusterError('INVALID_ARGUMENT', 'decides which objects there are, so it cannot be an output', {
    where: `${where}: ${holes.map(({ path }) => formatPath(path)).join(', ')}`,
    hint: 'Give a plain value, for example from the configuration of the stack.',
  });
  return new RunError(error.describe());
}

/** Pulumi shows an error of this class as its text alone. */
function tell<T>(where: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const place = error.where === undefined ? where : `${where}: ${error.where}`;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw new RunError(new MusterError(error.code, error.message, { where: place, ...hint }).describe());
  }
}
