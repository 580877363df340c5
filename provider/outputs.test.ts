import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plain } from './outputs.ts';

describe('plain (T7)', () => {
  test('leaves out what is undefined, at any depth', () => {
    expect(plain({ a: undefined, b: { c: undefined, d: 1 }, e: [undefined, { f: undefined }] })).toEqual({
      b: { d: 1 },
      e: [null, {}],
    });
  });

  test.each<[string, unknown]>([
    ['NaN', NaN],
    ['infinity', Infinity],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a buffer', Buffer.from('a')],
    ['an error', new Error('a')],
    ['a function', () => undefined],
    ['a bigint', 1n],
  ])('refuses %s and tells where it stands', (_name, value) => {
    const call = (): unknown => plain({ outer: [{ inner: value }] });
    expect(call).toThrow(expect.objectContaining({ code: 'INTERNAL', where: 'outer[0].inner' }));
  });

  test('keeps a member named __proto__', () => {
    const value = JSON.parse('{"a":{"__proto__":"b"}}') as object;
    expect(JSON.stringify(plain(value))).toBe('{"a":{"__proto__":"b"}}');
  });

  test('keeps every JSON value as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(JSON.stringify(plain(value))).toBe(JSON.stringify(value));
      }),
    );
  });
});
