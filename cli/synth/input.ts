/** What flags and files of `muster synth` hold. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { MusterError } from '../../api/errors.ts';

/** For flags that may be given several times. */
export const collect = (value: string, all: readonly string[] = []): readonly string[] => [...all, value];

/** `key=value` texts as an object. Throws INVALID_ARGUMENT naming the flag. */
export function pairs(texts: readonly string[], flag: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1)
        throw new MusterError('INVALID_ARGUMENT', `is ${JSON.stringify(text)}`, {
          where: flag,
          hint: 'Write key=value.',
        });
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}

/** The text of a file; `-` is standard input. Throws INVALID_ARGUMENT naming the flag. */
export function readText(path: string, flag: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw new MusterError('INVALID_ARGUMENT', `cannot read ${path}`, { where: flag, cause });
  }
}

/** An object of a YAML or JSON file. Throws INVALID_ARGUMENT; texts of the file are not quoted, it may hold secrets. */
export function readObject(path: string, flag: string): Record<string, unknown> {
  const text = readText(path, flag);
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error' });
  } catch {
    throw new MusterError('INVALID_ARGUMENT', 'is not YAML', { where: path });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MusterError('INVALID_ARGUMENT', 'does not hold a mapping', {
      where: path,
      hint: 'Write one property per line, such as name: east.',
    });
  return value as Record<string, unknown>;
}

/**
 * The properties of a file, none when there is no file. A name that no property has is refused: it would be a setting that
 * does nothing, and nobody would see it.
 * @param known every property of the set; the type holds the list complete
 */
export function readProps<T>(path: string | undefined, known: Readonly<Record<keyof T, true>>): Partial<T> {
  if (path === undefined) return {};
  const props = readObject(path, '--props');
  const unknown = Object.keys(props).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length > 0)
    throw new MusterError('INVALID_ARGUMENT', `unknown: ${unknown.join(', ')}`, {
      where: path,
      hint: `Known are ${Object.keys(known).sort().join(', ')}.`,
    });
  return props as Partial<T>;
}
