/** Typed reading of environment variables. An empty variable counts as not set, as an empty value in a manifest does. */
import { parseBindAddress } from '../api/bind-address.ts';
import { parseGoDuration } from '../api/duration.ts';
import { MusterError, isMusterError } from '../api/errors.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The text, or undefined when not set. */
export function textOf(env: Env, name: string): string | undefined {
  return env[name] || undefined;
}

/** Milliseconds of a Go duration such as `15m` or `1h30m`. Throws INVALID_ARGUMENT naming the variable. */
export function durationOf(env: Env, name: string): number | undefined {
  const text = textOf(env, name);
  if (text === undefined) return undefined;
  try {
    return parseGoDuration(text);
  } catch (cause) {
    const reason = isMusterError(cause) ? cause.message : 'is not a duration';
    throw new MusterError('INVALID_ARGUMENT', reason, {
      where: `env ${name}`,
      hint: 'Write a Go duration such as 30s, 15m or 1h30m.',
      cause,
    });
  }
}

/**
 * Address of an endpoint, as it was written, or `fallback` when not set; `0` is passed on and means off. Throws
 * INVALID_ARGUMENT naming the variable.
 */
export function bindAddressOf(env: Env, name: string, fallback: string): string {
  const text = textOf(env, name) ?? fallback;
  parseBindAddress(text, `env ${name}`);
  return text;
}

/** One of `choices`, or undefined when not set. Throws INVALID_ARGUMENT naming the variable and the choices. */
export function choiceOf<T extends string>(env: Env, name: string, choices: readonly T[]): T | undefined {
  const text = textOf(env, name);
  if (text === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined)
    throw new MusterError('INVALID_ARGUMENT', `is ${JSON.stringify(text)}`, {
      where: `env ${name}`,
      hint: `Write one of ${choices.join(', ')}.`,
    });
  return choice;
}

/** A whole number of zero or more, or undefined when not set. Throws INVALID_ARGUMENT naming the variable. */
export function countOf(env: Env, name: string): number | undefined {
  const text = textOf(env, name);
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,4}$/.test(text))
    throw new MusterError('INVALID_ARGUMENT', `is ${JSON.stringify(text)}`, {
      where: `env ${name}`,
      hint: 'Write a number such as 1.',
    });
  return Number(text);
}

/** `true` or `1`, `false` or `0`; false when not set. Throws INVALID_ARGUMENT naming the variable. */
export function flagOf(env: Env, name: string): boolean {
  const choice = choiceOf(env, name, ['true', '1', 'false', '0']);
  return choice === 'true' || choice === '1';
}
