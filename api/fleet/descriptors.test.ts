import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Condition } from '../conditions.ts';
import { objectSchema, toCustomResourceDefinition } from '../crd.ts';
import type { StructuralSchema } from '../crd.ts';
import { fieldPaths, lintSchema } from '../structural-lint.ts';
import { violations } from '../validate.ts';
import { fleetDescriptors } from './index.ts';
import * as kinds from './kinds.ts';
import type { Cluster } from './kinds.ts';
import { maximalObjects } from './testdata/index.ts';
import { wireFields } from './testdata/wire-fields.ts';

const byKind = fleetDescriptors.map((descriptor) => [descriptor.kind, descriptor] as const);

/** Paths of a value, in the notation of {@link fieldPaths}; maps and free-form objects are told by the schema. */
function valuePaths(schema: StructuralSchema | undefined, value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item) => valuePaths(schema?.items, item, `${path}[]`))];
  if (typeof value !== 'object' || value === null || schema?.['x-kubernetes-preserve-unknown-fields']) return [path];
  const below = Object.entries(value).flatMap(([name, item]) =>
    schema?.additionalProperties
      ? valuePaths(schema.additionalProperties, item, `${path}{}`)
      : valuePaths(schema?.properties?.[name], item, `${path}.${name}`),
  );
  return [path, ...below];
}

describe.each(byKind)('%s', (kind, descriptor) => {
  const schema = objectSchema(descriptor);
  const wire = wireFields().get(kind) ?? new Map<string, never>();

  it('is structural, described field by field, and free of what JavaScript would add', () => {
    expect(lintSchema(schema)).toEqual([]);
  });

  it('has every field of the wire, with its type, null where null may be, and requires nothing more', () => {
    const ours = fieldPaths(schema);
    const wrong = [...wire].filter(([path, { type }]) => {
      const have = ours.get(path);
      return have !== type && have !== `${type}?`;
    });
    expect(wire.size).toBeGreaterThan(1);
    expect(wrong.map(([path, { type }]) => `${path}: ${ours.get(path) ?? 'missing'} instead of ${type}`)).toEqual([]);
    const requiredOnWire = [...wire].filter(([, { required }]) => required).map(([path]) => path);
    const added = [...requiredPaths(schema)].filter((path) => wire.has(path) && !requiredOnWire.includes(path));
    expect(added).toEqual([]);
  });

  it('has a maximal object that sets every field and that our own validation accepts', () => {
    const object = maximalObjects.find((candidate) => candidate.kind === kind);
    const set = new Set(valuePaths(schema, object));
    const free = (path: string): boolean => path.startsWith('.metadata') || path === '';
    expect([...fieldPaths(schema).keys()].filter((path) => !free(path) && !set.has(path))).toEqual([]);
    expect(violations(descriptor.schema, object)).toEqual([]);
  });

  it('is addressed the same way with and without its schema', () => {
    const type = Object.values(kinds).find((candidate) => candidate.kind === kind);
    const { group, version, plural, namespaced } = descriptor;
    expect(type).toEqual({ kind, group, version, plural, namespaced });
  });

  it('makes the same definition every time', () => {
    expect(JSON.stringify(toCustomResourceDefinition(descriptor))).toBe(
      JSON.stringify(toCustomResourceDefinition(descriptor)),
    );
  });
});

function requiredPaths(schema: StructuralSchema, path = ''): string[] {
  return [
    ...(schema.required ?? []).map((name) => `${path}.${name}`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, value]) => requiredPaths(value, `${path}.${name}`)),
    ...(schema.items ? requiredPaths(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? requiredPaths(schema.additionalProperties, `${path}{}`) : []),
  ];
}

describe('all kinds', () => {
  it('have names that do not collide', () => {
    const names = fleetDescriptors.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('have types that fit the helpers', () => {
    type Conditions = NonNullable<NonNullable<Cluster['status']>['conditions']>;
    expectTypeOf<Condition[]>().toExtend<Conditions>();
    expectTypeOf<Conditions>().toExtend<readonly Condition[]>();
    expectTypeOf<Cluster['apiVersion']>().toEqualTypeOf<string>();
  });

  it('refuse a field more that an agent may not have: what is not in the schema is not in the type', () => {
    expectTypeOf<NonNullable<Cluster['spec']>>().not.toHaveProperty('agentTLSMode');
  });
});
