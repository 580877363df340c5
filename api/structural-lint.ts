/** Finds in a schema what the API server, `cdk8s import` or a reader would object to. For tests. */
import type { StructuralSchema } from './crd.ts';

/** Keys that structural schemas must not, or need not, use. */
const forbidden = [
  '$ref',
  '$defs',
  'definitions',
  'oneOf',
  'allOf',
  'not',
  'const',
  'patternProperties',
  'propertyNames',
  'dependencies',
  'uniqueItems',
  'additionalItems',
  'prefixItems',
  'discriminator',
  'deprecated',
  'readOnly',
  'writeOnly',
  'xml',
  'id',
];

/** What RE2, which the API server uses, does not have: look-around, back references, possessive quantifiers. */
const NOT_RE2 = /\(\?(?:[=!]|<[=!])|\\[1-9]|[*+?}]\+/;

/** One line per problem, by path; empty when there is none. Every field must have a description. */
export function lintSchema(schema: StructuralSchema, path = ''): string[] {
  const at = path === '' ? '.' : path;
  const problems: string[] = [];
  const report = (message: string): void => void problems.push(`${at}: ${message}`);

  for (const key of forbidden) if (key in schema) report(`must not use ${key}`);
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true;
  if (isIntOrString === (schema.type !== undefined)) report('needs a type, or to be int-or-string');
  if (!isIntOrString && schema.anyOf) report('anyOf is for int-or-string only');
  if (!schema.description && at !== '.metadata') report('has no description');
  problems.push(...lintObject(schema, at), ...lintList(schema, at), ...lintValues(schema, at));
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    problems.push(...lintSchema(value, `${path}.${name}`));
  }
  if (schema.items) problems.push(...lintValue(schema.items, `${path}[]`));
  if (schema.additionalProperties) problems.push(...lintValue(schema.additionalProperties, `${path}{}`));
  return problems;
}

/** Plain values of a list or map need no description of their own; objects do. */
function lintValue(schema: StructuralSchema, path: string): string[] {
  return lintSchema(schema.type === 'object' ? schema : { description: '-', ...schema }, path);
}

function lintObject(schema: StructuralSchema, at: string): string[] {
  const problems: string[] = [];
  const names = Object.keys(schema.properties ?? {});
  if (schema.type === 'object') {
    if (schema.properties && schema.additionalProperties) problems.push(`${at}: has both properties and a map`);
    const open = schema.additionalProperties ?? schema['x-kubernetes-preserve-unknown-fields'];
    if (!schema.properties && !open && at !== '.metadata') problems.push(`${at}: would lose all its fields`);
    if (typeof schema.additionalProperties === 'boolean') problems.push(`${at}: must not close its fields`);
  }
  for (const name of schema.required ?? []) {
    if (!names.includes(name)) problems.push(`${at}: requires ${name}, which it does not have`);
  }
  return problems;
}

function lintList(schema: StructuralSchema, at: string): string[] {
  if (schema.type !== 'array') return [];
  const problems = schema.items ? [] : [`${at}: a list needs items`];
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const item = schema.items?.properties?.[key];
    const given = schema.items?.required?.includes(key) || item?.default !== undefined;
    if (!item || !given) problems.push(`${at}: list key ${key} must be required or have a default`);
  }
  return problems;
}

function lintValues(schema: StructuralSchema, at: string): string[] {
  const problems: string[] = [];
  if (schema.pattern !== undefined && NOT_RE2.test(schema.pattern)) problems.push(`${at}: pattern is not RE2`);
  for (const limit of [schema.minimum, schema.maximum]) {
    if (limit !== undefined && Math.abs(limit) >= Number.MAX_SAFE_INTEGER) {
      problems.push(`${at}: has a limit that comes from JavaScript`);
    }
  }
  if (schema.default !== undefined && !fits(schema, schema.default)) problems.push(`${at}: default does not fit`);
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) {
    if (rule === '' || message === '') problems.push(`${at}: a rule needs a message`);
    // The API server reckons the cost of a rule from the size of its input, and refuses what it cannot bound.
    if (schema.type === 'string' && schema.maxLength === undefined) problems.push(`${at}: a rule needs a maxLength`);
  }
  return problems;
}

function fits(schema: StructuralSchema, value: unknown): boolean {
  if (schema.enum) return schema.enum.includes(value);
  if (schema.type === 'array') return Array.isArray(value);
  if (schema.type === 'integer') return Number.isInteger(value);
  return typeof value === schema.type;
}

/** A field by path, as `.spec.targets[].name` or `.spec.labels{}`, with its type; `?` when it may be null. */
export function fieldPaths(schema: StructuralSchema, path = ''): Map<string, string> {
  const type = schema['x-kubernetes-int-or-string'] ? 'int-or-string' : (schema.type ?? 'none');
  const open = schema['x-kubernetes-preserve-unknown-fields'] ? '*' : '';
  const result = new Map([[path, `${type}${open}${schema.nullable ? '?' : ''}`]]);
  const children: [string, StructuralSchema][] = [
    ...Object.entries(schema.properties ?? {}).map(([name, value]): [string, StructuralSchema] => [`.${name}`, value]),
    ...(schema.items ? [['[]', schema.items] as [string, StructuralSchema]] : []),
    ...(schema.additionalProperties ? [['{}', schema.additionalProperties] as [string, StructuralSchema]] : []),
  ];
  for (const [step, value] of children) {
    for (const [key, kind] of fieldPaths(value, `${path}${step}`)) result.set(key, kind);
  }
  return result;
}
