/** Checks a value against a kind's schema and tells everything that is wrong at once, by path. */
import type { z } from 'zod';
import { MusterError } from './errors.ts';

/** One thing that is wrong. `path` is written as in code: `spec.targets[0].name`. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** Everything in `value` that the schema does not accept; empty when it is fine. Unknown fields are not looked at. */
export function violations(schema: z.ZodType, value: unknown): Violation[] {
  const result = schema.safeParse(value, { reportInput: false });
  return result.success
    ? []
    : result.error.issues.map((issue) => ({ path: formatPath(issue.path), message: issueMessage(issue) }));
}

/**
 * Returns `value` itself (no defaults filled in, unknown fields kept).
 * @param where object or argument that the value is, for the error
 * @throws MusterError INVALID_ARGUMENT naming every path; values are not quoted, they may be secret
 */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.input<Schema> {
  const found = violations(schema, value);
  if (found.length === 0) return value as z.input<Schema>;
  const list = found.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new MusterError('INVALID_ARGUMENT', list, { where, hint: 'Correct the named fields.' });
}

/** `a.b[0]["c/d"]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  // Every number on the wire is whole.
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function issueMessage(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}${issue.message.endsWith('undefined') ? ', and is missing' : ''}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_format':
      return issue.format === 'datetime' ? 'must be a time such as 2026-01-31T12:00:00Z' : issue.message;
    case 'invalid_union':
      return 'must be a whole number or a text';
    case 'too_small':
      return `must ${verb(issue.origin)} at least ${count(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${verb(issue.origin)} at most ${count(issue.maximum, issue.origin)}`;
    default:
      return issue.message;
  }
}

/** `1 character`, `32 characters`, `2 entries`, or the bare number for a number. */
function count(limit: number | bigint, origin: string): string {
  if (origin !== 'string' && origin !== 'array') return String(limit);
  const one = limit === 1 || limit === 1n;
  if (origin === 'array') return `${limit} ${one ? 'entry' : 'entries'}`;
  return `${limit} ${one ? 'character' : 'characters'}`;
}

const verb = (origin: string): string => (origin === 'string' || origin === 'array' ? 'have' : 'be');
