/** The reference in Markdown: kinds field by field, conditions, error codes. Pure; a test writes and compares the files. */
import { fieldPaths } from './structural-lint.ts';
import type { StructuralSchema } from './crd.ts';
import { objectSchema } from './crd.ts';
import type { ResourceDescriptor } from './define-resource.ts';
import type { Meaning } from './error-meanings.ts';
import { errorMeanings } from './error-meanings.ts';
import { conditionMeanings, reasonMeanings } from './reason-meanings.ts';
import type { KubeObject } from './resource.ts';
import { apiVersionOf } from './resource.ts';

const generated = '<!-- Written by `npm run docs` from api/. Do not edit. -->';

/** Texts by file name, relative to docs/: `errors.md`, `reference/README.md`, `reference/conditions.md`, one per kind. */
export function renderReference(descriptors: readonly ResourceDescriptor<KubeObject>[]): Record<string, string> {
  return {
    'errors.md': renderErrors(),
    'reference/README.md': renderIndex(descriptors),
    'reference/conditions.md': renderConditions(),
    ...Object.fromEntries(descriptors.map((kind) => [`reference/${fileName(kind.kind)}`, renderKind(kind)])),
  };
}

const fileName = (kind: string): string => `${kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

const page = (...blocks: string[]): string => `${blocks.filter(Boolean).join('\n\n')}\n`;

const row = (...cells: string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

const table = (head: string[], rows: string[][]): string =>
  rows.length === 0 ? '' : [row(...head), `|${' --- |'.repeat(head.length)}`, ...rows.map((r) => row(...r))].join('\n');

function renderErrors(): string {
  const sections = Object.entries(errorMeanings).map(
    ([code, { meaning, action }]) => `## ${code}\n\n${meaning}\n\n**What to do.** ${action}`,
  );
  return page(
    generated,
    '# Errors',
    'Every error that a user can cause has a code, says where it arose and what to do. Codes are never renamed or used again, so scripts can rely on them. No text holds a secret.',
    ...sections,
  );
}

function renderIndex(descriptors: readonly ResourceDescriptor<KubeObject>[]): string {
  const rows = descriptors.map((kind) => [
    `[${kind.kind}](${fileName(kind.kind)})`,
    `\`${apiVersionOf(kind)}\``,
    kind.shortNames.map((name) => `\`${name}\``).join(', '),
    kind.description,
  ]);
  return page(
    generated,
    '# Reference',
    table(['kind', 'version', 'short', 'what it is'], rows),
    'See also [conditions](conditions.md) and [errors](../errors.md).',
  );
}

function renderConditions(): string {
  const meanings = Object.entries<Meaning>(reasonMeanings);
  return page(
    generated,
    '# Conditions',
    'Every stage of a registration is a condition with a reason and a message; `kubectl describe` shows them together with events.',
    table(
      ['type', 'what it tells'],
      Object.entries(conditionMeanings).map(([type, meaning]) => [`\`${type}\``, meaning]),
    ),
    '## Reasons',
    table(
      ['reason', 'what it means', 'what to do'],
      meanings.map(([reason, { meaning, action }]) => [`\`${reason}\``, meaning, action]),
    ),
  );
}

function renderKind(descriptor: ResourceDescriptor<KubeObject>): string {
  const schema = objectSchema(descriptor);
  const facts = [
    ['apiVersion', `\`${apiVersionOf(descriptor)}\``],
    ['scope', descriptor.namespaced ? 'namespace' : 'cluster'],
    ['resource', [descriptor.plural, ...descriptor.shortNames].map((name) => `\`${name}\``).join(', ')],
    ['categories', descriptor.categories.map((name) => `\`${name}\``).join(', ')],
  ].filter(([, value]) => value !== '');
  const columns = descriptor.printerColumns
    .filter(({ description }) => description !== undefined)
    .map(({ name, description, priority }) => [name, `${description ?? ''}${priority ? ' (with `-o wide`)' : ''}`]);
  const own = Object.entries(schema.properties ?? {}).filter(
    ([name]) => !['apiVersion', 'kind', 'metadata'].includes(name),
  );
  return page(
    generated,
    `# ${descriptor.kind}`,
    descriptor.description,
    table(['', ''], facts),
    ...(columns.length === 0 ? [] : ['## Columns', table(['column', 'what it shows'], columns)]),
    ...own.flatMap(([name, field]) => renderFields(name, field, schema.required?.includes(name) ?? false)),
  );
}

function renderFields(name: string, schema: StructuralSchema, required: boolean): string[] {
  const types = fieldPaths(schema, name);
  const rows = describeFields(schema, name, required).map(({ path, text }) => [
    `\`${path}\``,
    typeName(types.get(path) ?? ''),
    text,
  ]);
  return [`## ${name}`, table(['field', 'type', 'what it is'], rows)];
}

interface FieldText {
  readonly path: string;
  readonly text: string;
}

/** One entry per field; lists of plain values and the values of maps are told by the field that holds them. */
function describeFields(schema: StructuralSchema, path: string, required: boolean): FieldText[] {
  const notes = [
    schema.description ?? '',
    required ? 'Required.' : '',
    schema.enum ? `One of ${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}.` : '',
    schema.default === undefined || schema.default === '' ? '' : `Default: \`${String(schema.default)}\`.`,
    schema.maxLength === undefined ? '' : `At most ${schema.maxLength} characters.`,
  ];
  const item = schema.items ?? schema.additionalProperties;
  const step = schema.items ? '[]' : '{}';
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, value]) =>
    describeFields(value, `${path}.${name}`, schema.required?.includes(name) ?? false),
  );
  const inside = item?.properties ? describeFields(item, `${path}${step}`, false).slice(1) : [];
  return [{ path, text: notes.filter(Boolean).join(' ') }, ...below, ...inside];
}

/** `string?` → `string or null`. */
function typeName(code: string): string {
  const names: Readonly<Record<string, string>> = { 'int-or-string': 'integer or string', 'object*': 'any object' };
  const bare = code.replace('?', '');
  return `${names[bare] ?? bare}${code.endsWith('?') ? ' or null' : ''}`;
}
