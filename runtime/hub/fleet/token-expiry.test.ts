import { describe, expect, it } from 'vitest';
import { endsSoon, renewIn } from './import-token.ts';
import { tokenExpiry } from './token-expiry.ts';

const created = '2026-01-01T00:00:00Z';
const token = (ttl?: string | null, expires?: string) => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'ClusterRegistrationToken',
  metadata: { name: 't', namespace: 'ws', creationTimestamp: created },
  spec: ttl === undefined ? {} : { ttl },
  ...(expires === undefined ? {} : { status: { expires } }),
});

describe('the end of a token', () => {
  it.each([
    [undefined, 'never'],
    [null, 'never'],
    ['', 'never'],
    ['0', 'never'],
    ['0s', 'never'],
    ['1d', 'invalid'],
    ['tomorrow', 'invalid'],
    ['-1h', 'invalid'],
  ])('given a ttl of %s, when asked, then it is %s', (ttl, state) => {
    expect(tokenExpiry(token(ttl)).state).toBe(state);
  });

  it('given 1h30m, when asked, then it is that long after its creation', () => {
    expect(tokenExpiry(token('1h30m'))).toEqual({ state: 'until', expiresMs: Date.parse('2026-01-01T01:30:00Z') });
  });
});

describe('an import token', () => {
  const expires = '2026-01-01T12:00:00Z';
  it('given half a day, when an hour is left, then it is time for the next one', () => {
    expect(endsSoon(token('12h', expires), Date.parse('2026-01-01T10:59:59Z'))).toBe(false);
    expect(endsSoon(token('12h', expires), Date.parse('2026-01-01T11:00:00Z'))).toBe(true);
    expect(renewIn(token('12h', expires), Date.parse('2026-01-01T10:00:00Z'))).toBe(3_600_000);
  });
  it('given one that is not issued yet, when asked, then there is nothing to renew', () => {
    expect(endsSoon(token('12h'), Date.now())).toBe(false);
    expect(renewIn(token('12h'), Date.now())).toBeUndefined();
  });
});
