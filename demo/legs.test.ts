import { describe, expect, it } from 'vitest';
import { silentReporter } from '../tools/index.ts';
import { Legs } from './legs.ts';

describe('the legs of a run', () => {
  it('lists each leg once, with a total, and passes results on', async () => {
    const legs = new Legs(silentReporter);
    expect(await legs.run('clusters', async () => 7)).toBe(7);
    await expect(legs.run('pulumi up', () => Promise.reject(new Error('no hub')))).rejects.toThrow('no hub');
    expect(
      legs
        .table()
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/)[0]),
    ).toEqual(['clusters', 'pulumi up', 'total']);
  });
});
