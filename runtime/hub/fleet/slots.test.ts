import { describe, expect, it } from 'vitest';
import type { Outside } from './slots.ts';
import { createSlots } from './slots.ts';

const forever = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Work that says when it runs and ends when it is told. */
function job(): { work: (outside: Outside) => Promise<string>; end: () => void; running: () => boolean } {
  const { promise, resolve } = Promise.withResolvers<string>();
  let running = false;
  return {
    work: async () => {
      running = true;
      return await promise.finally(() => (running = false));
    },
    end: () => resolve('done'),
    running: () => running,
  };
}

describe('slots', () => {
  it('given two, when three want to work, then the third begins when one has ended', async () => {
    const slots = createSlots(2);
    const [a, b, c] = [job(), job(), job()];
    const all = Promise.all([a, b, c].map(({ work }) => slots.run(work, forever)));
    await turn();
    expect([a.running(), b.running(), c.running()]).toEqual([true, true, false]);
    b.end();
    await turn();
    expect([a.running(), c.running()]).toEqual([true, true]);
    a.end();
    c.end();
    expect(await all).toEqual(['done', 'done', 'done']);
  });

  it('given one, when a hundred wait outside for ever, then others work all the same', async () => {
    const slots = createSlots(1);
    const hanging = new AbortController();
    const never = new Promise<never>((_, reject) => {
      hanging.signal.addEventListener('abort', () => reject(new Error('over')), { once: true });
    });
    const stuck = Array.from({ length: 100 }, () => slots.run((outside) => outside(() => never), forever));
    const ended = Promise.allSettled(stuck);
    await turn();
    expect(await slots.run(() => Promise.resolve('good'), forever)).toBe('good');
    hanging.abort();
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await slots.run(() => Promise.resolve('still good'), forever)).toBe('still good');
  });

  it('given one that waits outside, when it comes back, then it waits for its turn', async () => {
    const slots = createSlots(1);
    const answer = Promise.withResolvers<void>();
    const order: string[] = [];
    const first = slots.run(async (outside) => {
      await outside(() => answer.promise);
      order.push('first');
    }, forever);
    const second = job();
    const run = slots.run(second.work, forever).then(() => order.push('second'));
    await turn();
    answer.resolve();
    await turn();
    expect(order).toEqual([]);
    second.end();
    await Promise.all([first, run]);
    expect(order).toEqual(['second', 'first']);
  });

  it('given work that fails or is told to stop, when it ends, then its slot is free', async () => {
    const slots = createSlots(1);
    await expect(slots.run(() => Promise.reject(new Error('no')), forever)).rejects.toThrow('no');
    const blocking = job();
    const run = slots.run(blocking.work, forever);
    const stop = new AbortController();
    const stopped = slots.run(() => Promise.resolve('never'), stop.signal);
    stop.abort(new Error('stop'));
    await expect(stopped).rejects.toThrow('stop');
    blocking.end();
    await run;
    expect(await slots.run(() => Promise.resolve('free'), forever)).toBe('free');
  });
});
