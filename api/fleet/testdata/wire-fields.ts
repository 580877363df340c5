/**
 * Every field that the CRDs of Fleet 0.16 know, in the notation of wire-fields.txt: `name:type`, with `s` text, `i`
 * integer, `b` boolean, `x` int-or-string, `any` free form, `{…}` object, `[…]` list, `map(…)` map; `!` after a name
 * for a required field, `?` after a type for one that may be null.
 */
import { readFileSync } from 'node:fs';

/** One field; `type` as in fieldPaths of structural-lint. */
export interface WireField {
  readonly type: string;
  readonly required: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  s: 'string',
  i: 'integer',
  b: 'boolean',
  x: 'int-or-string',
  any: 'object*',
};

/** Fields by kind and path, such as `.spec.targets[].name` or `.spec.namespaceLabels{}`. */
export function wireFields(): Map<string, Map<string, WireField>> {
  const text = readFileSync(new URL('./wire-fields.txt', import.meta.url), 'utf8');
  const kinds = new Map<string, Map<string, WireField>>();
  let fields = new Map<string, WireField>();
  let parent = '';
  for (const line of text.split('\n').filter((entry) => entry !== '')) {
    const entry = line.trim();
    if (!line.startsWith(' ')) {
      fields = new Map();
      kinds.set(entry, fields);
      parent = '';
    } else if (!entry.includes(':')) {
      parent = `.${entry}`;
      fields.set(parent, { type: 'object', required: false });
    } else {
      readField(entry, line.startsWith('    ') ? parent : '', fields);
    }
  }
  return kinds;
}

/** Reads one `name:type` and everything below it. */
function readField(text: string, parent: string, fields: Map<string, WireField>): void {
  const colon = text.indexOf(':');
  const required = text[colon - 1] === '!';
  const name = text.slice(0, required ? colon - 1 : colon);
  readType(text.slice(colon + 1), `${parent}.${name}`, required, fields);
}

function readType(text: string, path: string, required: boolean, fields: Map<string, WireField>): void {
  const nullable = text.endsWith('?') ? '?' : '';
  const type = nullable ? text.slice(0, -1) : text;
  if (type.startsWith('{')) {
    fields.set(path, { type: `object${nullable}`, required });
    for (const field of splitFields(type.slice(1, -1))) readField(field, path, fields);
  } else if (type.startsWith('[')) {
    fields.set(path, { type: `array${nullable}`, required });
    readType(type.slice(1, -1), `${path}[]`, false, fields);
  } else if (type.startsWith('map(')) {
    fields.set(path, { type: `object${nullable}`, required });
    readType(type.slice(4, -1), `${path}{}`, false, fields);
  } else {
    fields.set(path, { type: `${TYPES[type] ?? type}${nullable}`, required });
  }
}

/** Splits at the blanks outside all brackets. */
function splitFields(text: string): string[] {
  const fields: string[] = [''];
  let depth = 0;
  for (const character of text) {
    if ('{[('.includes(character)) depth++;
    if ('}])'.includes(character)) depth--;
    if (character === ' ' && depth === 0) fields.push('');
    else fields[fields.length - 1] += character;
  }
  return fields;
}
