import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goJSON } from './go-json.ts';

describe('goJSON', () => {
  it.each([
    ['<a href="x">&', '"\\u003ca href=\\"x\\"\\u003e\\u0026"'],
    ['line \u2028 and \u2029', '"line \\u2028 and \\u2029"'],
    ['tab\t, bell \u0007, ü', '"tab\\t, bell \\u0007, ü"'],
    [null, 'null'],
    [undefined, 'null'],
    [[1, undefined, true], '[1,null,true]'],
    [{ b: 1, a: undefined, c: { d: [] } }, '{"b":1,"c":{"d":[]}}'],
    [Buffer.from('PEM'), '"UEVN"'],
    [{ '<': 1 }, '{"\\u003c":1}'],
  ])('given %j, then Go would write %s', (value, text) => {
    expect(goJSON(value)).toBe(text);
  });

  it('given a map, when keys are sorted, then it is by bytes, numbers among them', () => {
    expect(goJSON({ b: 1, '10': 2, '9': 3, ä: 4, B: 5 }, { sortKeys: true })).toBe('{"10":2,"9":3,"B":5,"b":1,"ä":4}');
  });

  it('any JSON value can be read back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(goJSON(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
