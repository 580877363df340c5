import { describe, expect, test } from 'vitest';
import { bindAddressOf, choiceOf, countOf, durationOf, textOf } from './env.ts';

describe('given an environment', () => {
  test('an empty variable counts as not set', () => {
    const env = { A: '' };
    expect([textOf(env, 'A'), durationOf(env, 'A'), choiceOf(env, 'A', ['x'])]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(bindAddressOf(env, 'A', ':8081')).toBe(':8081');
  });

  test('durations are Go durations, in milliseconds', () => {
    expect(durationOf({ A: '1m30s' }, 'A')).toBe(90_000);
    expect(durationOf({ A: '0s' }, 'A')).toBe(0);
  });

  test('an address that switches the endpoint off is passed on', () => {
    expect(bindAddressOf({ A: '0' }, 'A', ':8081')).toBe('0');
  });

  test.each([
    ['a duration', () => durationOf({ A: 'soon' }, 'A')],
    ['an address', () => bindAddressOf({ A: '8081' }, 'A', ':1')],
    ['a number', () => countOf({ A: 'two' }, 'A')],
    ['a choice', () => choiceOf({ A: 'loud' }, 'A', ['info', 'warn'])],
  ])('%s that is malformed is refused with the name of the variable and what to write', (_, read) => {
    const refused = { code: 'INVALID_ARGUMENT', where: 'env A', hint: expect.stringContaining('Write') as string };
    expect(read).toThrow(expect.objectContaining(refused) as Error);
  });
});
