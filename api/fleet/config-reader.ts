/**
 * Reads the JSON configurations of hub and agent. Whoever edits a ConfigMap by hand must not take a fleet down, so a
 * field that cannot be used is left out with a warning; only a text that is no JSON object is an error.
 */
import { parseGoDuration } from '../duration.ts';
import { MusterError } from '../errors.ts';

/**
 * What a field may hold. Returns undefined when `value` does not fit; `warn` is for what is wrong with a value that is
 * taken all the same.
 */
export type Reader = (value: unknown, warn: (problem: string) => void) => unknown;

export const readText: Reader = (value) => (typeof value === 'string' ? value : undefined);
export const readFlag: Reader = (value) => (typeof value === 'boolean' ? value : undefined);

/** A Go duration that is not negative, kept as text. */
export const readDuration: Reader = (value) => {
  if (typeof value !== 'string') return undefined;
  try {
    return parseGoDuration(value) >= 0 ? value : undefined;
  } catch {
    return undefined;
  }
};

export const readTextMap: Reader = (value) =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string') ? value : undefined;

/** Names given as texts or as `{name}`; always read as `{name}`. */
export const readReferences: Reader = (value) => {
  if (!Array.isArray(value)) return undefined;
  const names = value.map((item: unknown) => (isObject(item) ? item['name'] : item));
  return names.every((name) => typeof name === 'string') ? names.map((name) => ({ name })) : undefined;
};

/** Readers by field; a nested table reads a nested object. */
export interface Readers {
  readonly [field: string]: Reader | Readers;
}

/** What was read, and one line for each field that was left out. */
export interface ReadConfig<Config> {
  readonly config: Config;
  readonly warnings: string[];
}

/**
 * Reads `json` by `readers`. Missing text counts as an empty object; unknown fields, and nulls, are passed over.
 * @throws MusterError INVALID_ARGUMENT when the text is not a JSON object; it is not quoted
 */
export function readConfig<Config>(json: string | undefined, readers: Readers, where: string): ReadConfig<Config> {
  const warnings: string[] = [];
  const config = readObject(parseObject(json, where), readers, '', warnings) as Config;
  return { config, warnings };
}

/** Writes known fields in the order of `readers`, then anything else by name: equal configurations are equal texts. */
export function formatConfig(config: object, readers: Readers): string {
  return JSON.stringify(inOrder(config, readers), null, 2);
}

function inOrder(value: unknown, readers: Readers): unknown {
  if (Array.isArray(value)) return value.map((item) => inOrder(item, {}));
  if (!isObject(value)) return value;
  const known = Object.keys(readers);
  const rest = Object.keys(value).filter((field) => !known.includes(field));
  return Object.fromEntries(
    [...known, ...rest.sort()].map((field) => {
      const reader = readers[field];
      return [field, inOrder(value[field], typeof reader === 'object' ? reader : {})];
    }),
  );
}

function parseObject(json: string | undefined, where: string): Record<string, unknown> {
  if (json === undefined || json.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new MusterError('INVALID_ARGUMENT', 'the configuration is not a JSON object', {
    where,
    hint: 'Correct the key "config" of the ConfigMap; it is read again at once.',
  });
}

function readObject(
  value: Record<string, unknown>,
  readers: Readers,
  path: string,
  warnings: string[],
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [field, reader] of Object.entries(readers)) {
    const given = value[field];
    if (given === undefined || given === null) continue;
    const at = `${path}${field}`;
    const read =
      typeof reader === 'function'
        ? reader(given, (problem) => warnings.push(`${at}.${problem}`))
        : isObject(given)
          ? readObject(given, reader, `${at}.`, warnings)
          : undefined;
    if (read === undefined)
      warnings.push(`${at} cannot be used and is left out: its value is not what this field takes`);
    else result[field] = read;
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
