import { describe, expect, it } from 'vitest';
import { newsFor } from './address-history.ts';

const old = { url: 'https://old', ca: 'a', sinceMs: 1000 };
const now = { url: 'https://new', ca: 'b', sinceMs: 2000 };

describe('news for an agent', () => {
  it('given one address ever, then there is none', () => {
    expect(newsFor([old], 0)).toBeUndefined();
    expect(newsFor([], 0)).toBeUndefined();
  });

  it('given an agent that registered since the change, then there is none', () => {
    expect(newsFor([old, now], 2000)).toBeUndefined();
  });

  it('given an agent from before, then it is told the new address, for those at a former one only', () => {
    expect(newsFor([old, now], 1999)).toEqual({ url: 'https://new', ca: 'b', replaces: ['https://old'] });
  });

  it('given that only the CA changed, then it is told that', () => {
    expect(newsFor([old, { ...old, ca: 'b', sinceMs: 2000 }], 1)).toEqual({
      url: 'https://old',
      ca: 'b',
      replaces: [],
    });
  });
});
