import { expect, test } from 'vitest';
import { inParallel } from './in-parallel.ts';

test('given more jobs than workers, then each is done once and no more than that many at a time', async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await inParallel(10, 3, async (index) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    done.push(index);
  });
  expect(most).toBe(3);
  expect(done.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('given a job that fails, then that is told and no other is begun', async () => {
  const begun: number[] = [];
  const run = inParallel(10, 2, async (index) => {
    begun.push(index);
    await Promise.resolve();
    if (index === 1) throw new Error('one');
  });
  await expect(run).rejects.toThrow('one');
  expect(begun.length).toBeLessThan(5);
});

test('given no job, then it ends at once', async () => {
  await inParallel(0, 4, () => Promise.reject(new Error('never')));
});
