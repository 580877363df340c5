/** CustomResourceDefinitions from descriptors: zod's JSON schema, brought into the form the API server takes. */
import { z } from 'zod';
import type { ResourceDescriptor } from './define-resource.ts';
import type { KubeObject } from './resource.ts';
import type { CustomResourceDefinition } from './kubernetes/workloads.ts';

/** The part of OpenAPI v3 that structural schemas may use. */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  description?: string;
  format?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  anyOf?: { type: 'integer' | 'string' }[];
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-validations'?: { rule: string; message: string }[];
}

type JSONSchema = Record<string, unknown>;

/** Copied as they are when zod gives them. */
const plainKeys = [
  'type',
  'description',
  'format',
  'nullable',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'required',
] as const;

/**
 * Turns what zod writes for a schema into a structural schema: no `additionalProperties: false`, no limits of
 * JavaScript's safe integers, no patterns where a format says it, int-or-string in Kubernetes' own words.
 * @throws Error for constructs that a CRD cannot express (unions, tuples, references): those are mistakes in a
 * schema of ours, which the tests find
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return normalise(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }) as JSONSchema, '');
}

function normalise(node: JSONSchema, path: string): StructuralSchema {
  const result: JSONSchema = {};
  for (const key of plainKeys) if (node[key] !== undefined) result[key] = node[key];
  for (const [key, value] of Object.entries(node)) if (key.startsWith('x-kubernetes-')) result[key] = value;
  if (result['x-kubernetes-int-or-string'] === true) {
    result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
    return result;
  }
  if (typeof result['type'] !== 'string') throw new Error(`${path || 'the schema'}: a CRD needs exactly one type here`);
  if (result['format'] === 'date-time' || result['format'] === 'byte') delete result['pattern'];
  if (result['type'] === 'integer') dropImpliedLimits(result);
  if (result['type'] === 'array') result['items'] = normalise(child(node['items'], path), `${path}[]`);
  if (result['type'] === 'object') normaliseObject(node, result, path);
  return result;
}

function normaliseObject(node: JSONSchema, result: JSONSchema, path: string): void {
  const properties = node['properties'];
  // API servers drop an empty map, and kubectl would find a difference in it for ever.
  if (typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0) {
    result['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [name, normalise(child(value, path), `${path}.${name}`)]),
    );
  }
  const values = node['additionalProperties'];
  if (typeof values === 'object' && values !== null && Object.keys(values).length > 0) {
    result['additionalProperties'] = normalise(child(values, path), `${path}{}`);
  } else if (properties === undefined) {
    // An object of which nothing is known would lose all its fields.
    result['x-kubernetes-preserve-unknown-fields'] = true;
  }
}

/** zod limits every integer to what JavaScript can hold, and those of 32 bits to their range, which the format says. */
function dropImpliedLimits(result: JSONSchema): void {
  const implied = [-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -(2 ** 31), 2 ** 31 - 1];
  for (const key of ['minimum', 'maximum']) if (implied.includes(result[key] as number)) delete result[key];
}

function child(value: unknown, path: string): JSONSchema {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JSONSchema;
  throw new Error(`${path || 'the schema'}: a CRD needs one schema for all items here`);
}

/** The schema of the whole object, with the fields that every object has. */
export function objectSchema(descriptor: ResourceDescriptor<KubeObject>): StructuralSchema {
  const { properties, required, ...rest } = structuralSchema(descriptor.schema);
  return {
    ...rest,
    description: descriptor.description,
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the kind.' },
      kind: { type: 'string', description: 'Name of the kind.' },
      metadata: { type: 'object' },
      ...properties,
    },
    ...(required === undefined ? {} : { required }),
    ...(descriptor.rules.length === 0 ? {} : { 'x-kubernetes-validations': [...descriptor.rules] }),
  };
}

/** The CustomResourceDefinition of a kind: one version, served and stored, with a status subresource. */
export function toCustomResourceDefinition(descriptor: ResourceDescriptor<KubeObject>): CustomResourceDefinition {
  const { shortNames, categories, printerColumns } = descriptor;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${descriptor.plural}.${descriptor.group}` },
    spec: {
      group: descriptor.group,
      names: {
        kind: descriptor.kind,
        listKind: descriptor.listKind,
        plural: descriptor.plural,
        singular: descriptor.singular,
        ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
        ...(categories.length === 0 ? {} : { categories: [...categories] }),
      },
      scope: descriptor.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: descriptor.version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: objectSchema(descriptor) },
          ...(printerColumns.length === 0 ? {} : { additionalPrinterColumns: printerColumns.map((c) => ({ ...c })) }),
        },
      ],
    },
  };
}
