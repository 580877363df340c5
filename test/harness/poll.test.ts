import { describe, expect, it } from 'vitest';
import { poll } from './poll.ts';

describe('poll', () => {
  it('returns the first thing it sees', async () => {
    let looks = 0;

    expect(await poll(() => (++looks === 3 ? 'seen' : undefined), { what: 'it' })).toBe('seen');
    expect(looks).toBe(3);
  });

  it('gives up at its limit and says what it waited for', async () => {
    const waiting = poll(() => undefined, { what: 'the impossible', limitMs: 1 });

    await expect(waiting).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('the impossible') as string,
    });
  });

  it('ends with what the look throws, and with the reason of its signal', async () => {
    const broken = poll(
      () => {
        throw new Error('broken');
      },
      { what: 'it' },
    );
    await expect(broken).rejects.toThrow('broken');

    const gone = AbortSignal.abort(new Error('no longer wanted'));
    await expect(poll(() => undefined, { what: 'it', signal: gone })).rejects.toThrow('no longer wanted');
  });
});
