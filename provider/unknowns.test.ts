import { runtime } from '@pulumi/pulumi';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { differs, hasUnknown, unknownPaths, unknownValue } from './unknowns.ts';

describe('unknowns', () => {
  test('are the marker that the SDK sends', () => {
    expect((runtime as unknown as { unknownValue: string }).unknownValue ?? unknownValue).toBe(unknownValue);
  });

  test('are found at any depth, with their paths', () => {
    const value = { a: unknownValue, b: [{ c: unknownValue }], 'd/e': { f: unknownValue }, g: 'known' };
    expect(hasUnknown(value)).toBe(true);
    expect(unknownPaths(value)).toEqual(['a', 'b[0].c', '["d/e"].f']);
  });
});

describe('differs', () => {
  test('takes absent, null and empty objects as the same, but not empty lists', () => {
    expect(differs(undefined, null)).toBe(false);
    expect(differs({ a: undefined }, {})).toBe(false);
    expect(differs({}, undefined)).toBe(false);
    expect(differs([], undefined)).toBe(true);
  });

  test('is never true for a value and itself, and always for something unknown', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(differs(value, structuredClone(value))).toBe(false);
        expect(differs(value, unknownValue)).toBe(true);
        expect(differs({ value }, { value: unknownValue })).toBe(true);
      }),
    );
  });
});
