import { describe, expect, it } from 'vitest';
import { median, percentile, summarize } from './statistics.ts';

describe('median', () => {
  it('given an odd or even number of values, then it is the middle one or the mean of the two', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([])).toBeNaN();
  });
});

describe('percentile', () => {
  it('given a hundred values, then p95 is the 96th', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(values, 0.95)).toBe(96);
    expect(percentile(values, 1)).toBe(100);
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe('summarize', () => {
  it('given runs, then each figure is a number with min and max beside', () => {
    expect(
      summarize([
        { ms: 1.04, cpu: null },
        { ms: 3, cpu: null },
        { ms: 2, cpu: null },
      ]),
    ).toEqual({
      ms: 2,
      cpu: null,
      min: { ms: 1, cpu: null },
      max: { ms: 3, cpu: null },
    });
  });
});
