import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { objectSchema, structuralSchema, toCustomResourceDefinition } from './crd.ts';
import { defineResource } from './define-resource.ts';
import { bytes, goDuration, int, int32, int64, intOrString, quantity, textMap, time } from './schema.ts';
import { lintSchema } from './structural-lint.ts';

describe('structuralSchema', () => {
  it.each([
    ['a whole number', int('d'), { type: 'integer', description: 'd' }],
    ['32 bits', int32('d'), { type: 'integer', format: 'int32', description: 'd' }],
    ['64 bits, or null', int64('d').nullable(), { type: 'integer', format: 'int64', description: 'd', nullable: true }],
    ['a limited number', z.int().min(0).max(9), { type: 'integer', minimum: 0, maximum: 9 }],
    ['bytes', bytes('d'), { type: 'string', format: 'byte', description: 'd' }],
    ['a time', time('d'), { type: 'string', format: 'date-time', description: 'd' }],
    ['a map', textMap('d'), { type: 'object', description: 'd', additionalProperties: { type: 'string' } }],
    ['a choice', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['one value', z.literal('a'), { type: 'string', enum: ['a'] }],
    ['a default', z.string().default('x'), { type: 'string', default: 'x' }],
    ['anything', z.record(z.string(), z.unknown()), { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    [
      'int-or-string',
      intOrString('d'),
      { description: 'd', 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    [
      'a strict object',
      z.strictObject({ a: z.string() }),
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ],
    [
      'a default in an object',
      z.object({ a: z.string().default('x'), b: z.string().nullish() }),
      { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string', nullable: true } } },
    ],
  ])('given %s, then it is written the way the API server takes it', (_, schema, expected) => {
    expect(structuralSchema(schema)).toEqual(expected);
  });

  it('given a quantity, then its pattern is kept beside int-or-string', () => {
    expect(structuralSchema(quantity('d'))).toMatchObject({
      'x-kubernetes-int-or-string': true,
      pattern: expect.stringMatching(/^\^/),
    });
  });

  it.each([
    ['a union', z.union([z.string(), z.boolean()])],
    [
      'a discriminated union',
      z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
    ],
    ['a tuple', z.tuple([z.string(), z.int()])],
    ['a list of anything', z.array(z.unknown())],
  ])('given %s, which a CRD cannot express, then it says where', (_, schema) => {
    expect(() => structuralSchema(z.object({ field: schema }))).toThrow(/^\.field/);
  });
});

describe('lintSchema', () => {
  it('given a schema with every mistake, then each is told by path', () => {
    const problems = lintSchema({
      type: 'object',
      description: 'd',
      required: ['gone'],
      properties: {
        untyped: { description: 'd' },
        silent: { type: 'string' },
        empty: { type: 'object', description: 'd' },
        list: { type: 'array', description: 'd' },
        looking: { type: 'string', description: 'd', pattern: '^(?!x)' },
        wrong: { type: 'string', description: 'd', default: 1 },
        limit: { type: 'integer', description: 'd', maximum: Number.MAX_SAFE_INTEGER },
        rule: { type: 'string', description: 'd', 'x-kubernetes-validations': [{ rule: 'true', message: 'm' }] },
        keys: {
          type: 'array',
          description: 'd',
          items: { type: 'object', description: 'd', properties: { a: { type: 'string', description: 'd' } } },
          'x-kubernetes-list-map-keys': ['a'],
        },
        both: {
          type: 'object',
          description: 'd',
          properties: { a: { type: 'string', description: 'd' } },
          additionalProperties: { type: 'string' },
        },
        other: { description: 'd', oneOf: [] } as never,
      },
    });
    expect(problems).toEqual([
      '.: requires gone, which it does not have',
      '.untyped: needs a type, or to be int-or-string',
      '.silent: has no description',
      '.empty: would lose all its fields',
      '.list: a list needs items',
      '.looking: pattern is not RE2',
      '.wrong: default does not fit',
      '.limit: has a limit that comes from JavaScript',
      '.rule: a rule needs a maxLength',
      '.keys: list key a must be required or have a default',
      '.both: has both properties and a map',
      '.other: must not use oneOf',
      '.other: needs a type, or to be int-or-string',
    ]);
  });
});

describe('toCustomResourceDefinition', () => {
  const descriptor = defineResource({
    group: 'example.com',
    version: 'v1',
    kind: 'Lighthouse',
    plural: 'lighthouses',
    namespaced: false,
    description: 'A lighthouse.',
    schema: z.object({ spec: z.object({ ttl: goDuration('How long it shines.') }).describe('Wanted.') }),
    rules: [{ rule: "self.metadata.name != 'x'", message: 'not x' }],
  });

  it('given a descriptor, then the definition has what follows from it and nothing empty', () => {
    expect(toCustomResourceDefinition(descriptor)).toEqual({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'lighthouses.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'Lighthouse', listKind: 'LighthouseList', plural: 'lighthouses', singular: 'lighthouse' },
        scope: 'Cluster',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: { openAPIV3Schema: objectSchema(descriptor) },
          },
        ],
      },
    });
    expect(objectSchema(descriptor)).toMatchObject({
      required: ['spec'],
      'x-kubernetes-validations': [{ message: 'not x' }],
      properties: { metadata: { type: 'object' }, spec: { required: ['ttl'] } },
    });
  });
});
