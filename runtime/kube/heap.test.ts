import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap } from './heap.ts';

describe('a heap', () => {
  it('gives any items back in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (numbers) => {
        const heap = new Heap<number>((a, b) => a < b);
        for (const number of numbers) heap.push(number);
        const out: number[] = [];
        for (let next = heap.pop(); next !== undefined; next = heap.pop()) out.push(next);
        expect(out).toEqual([...numbers].sort((a, b) => a - b));
      }),
    );
  });
});
