import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatGoDuration, parseGoDuration } from './duration.ts';

describe('parseGoDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['12h', 43_200_000],
    ['1h30m', 5_400_000],
    ['15m0s', 900_000],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1.s', 1000],
    ['500ms', 500],
    ['1us', 0.001],
    ['2µs', 0.002],
    ['-1m', -60_000],
    ['+1m', 60_000],
  ])('given %s, then it is %d ms', (text, ms) => {
    expect(parseGoDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each(['', '1', '1d', '1w', 'h', '1h 30m', '1h30', '--1s', '1e3s', '٣s', '.s', '9999999h'])(
    'given %j, then it is refused with a code and a hint',
    (text) => {
      expect(() => parseGoDuration(text)).toThrow(
        expect.objectContaining({ name: 'MusterError', code: 'INVALID_ARGUMENT', hint: expect.any(String) }),
      );
    },
  );
});

describe('formatGoDuration', () => {
  it.each([
    [0, '0s'],
    [900_000, '15m0s'],
    [43_200_000, '12h0m0s'],
    [1500, '1.5s'],
    [500, '500ms'],
    [0.0015, '1.5µs'],
    [0.000007, '7ns'],
    [-61_000, '-1m1s'],
    [3_661_250, '1h1m1.25s'],
  ])('given %d ms, then Go would print %s', (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
  });

  it('any number of milliseconds comes back from its text', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        expect(parseGoDuration(formatGoDuration(ms))).toBeCloseTo(ms, 3);
      }),
    );
  });
});
