import { expect, test } from 'vitest';
import { createSingleFlight } from './single-flight.ts';

test('what is under way is not begun again, and what has ended is', async () => {
  const flights = createSingleFlight<number>();
  const first = Promise.withResolvers<number>();
  let begun = 0;
  const work = async (): Promise<number> => {
    begun += 1;
    return await first.promise;
  };
  const both = [flights.do('a', work), flights.do('a', work)];
  const other = flights.do('b', async () => Promise.resolve(2));
  first.resolve(1);
  expect(await Promise.all([...both, other])).toEqual([1, 1, 2]);
  expect(begun).toBe(1);
  expect(await flights.do('a', async () => Promise.resolve(3))).toBe(3);
});

test('a failure is told to all who wait, and the next one tries again', async () => {
  const flights = createSingleFlight<number>();
  const failing = async (): Promise<number> => Promise.reject(new Error('no'));
  const outcomes = await Promise.allSettled([flights.do('a', failing), flights.do('a', failing)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await flights.do('a', async () => Promise.resolve(1))).toBe(1);
});
