import { describe, expect, it } from 'vitest';
import type { KubeClient, TokenRequest } from '../kube/client.ts';
import { durablePlan, renewAt, requestToken, rotatingPlan, tokenEnd, tokenOf, untilPlan } from './credential.ts';

const day = 86_400_000;
const nowMs = Date.parse('2026-01-01T00:00:00Z');

/** A server that caps the life of tokens. */
function serverWithCap(capMs: number): { client: KubeClient; asked: TokenRequest[] } {
  const asked: TokenRequest[] = [];
  const client: Partial<KubeClient> = {
    createToken: (_account, request) => {
      asked.push(request);
      const lifeMs = Math.min(capMs, request.expirationSeconds * 1000);
      return Promise.resolve({ token: 'bearer', expirationTimestamp: new Date(nowMs + lifeMs).toISOString() });
    },
  };
  return { client: client as KubeClient, asked };
}
const account = { namespace: 'ns', name: 'agent' };

describe('bound tokens', () => {
  it.each([
    ['rotating agent, no cap', rotatingPlan, Infinity, true],
    ['rotating agent, 30 days', rotatingPlan, 30 * day, true],
    ['rotating agent, one day', rotatingPlan, day, false],
    ['other agent, no cap', durablePlan, Infinity, true],
    ['other agent, a year', durablePlan, 365 * day, false],
    ['token of 12 h, a day', untilPlan(nowMs + day / 2, nowMs), day, true],
    ['token of 12 h, an hour', untilPlan(nowMs + day / 2, nowMs), day / 24, false],
  ])('given %s, when asked for, then it is used only if it lives long enough', async (_what, plan, cap, used) => {
    const { client } = serverWithCap(cap);
    expect((await requestToken(client, account, plan, nowMs))?.token === 'bearer').toBe(used);
  });

  it('given a plan that ends in a second, when asked for, then the request is one that the server accepts', async () => {
    const { client, asked } = serverWithCap(Infinity);
    await requestToken(client, account, untilPlan(nowMs + 1000, nowMs), nowMs);
    expect(asked).toEqual([{ expirationSeconds: 600 }]);
  });

  it('given a token, when it should be renewed, then a fifth of its life is left', () => {
    expect(renewAt(0, 100)).toBe(80);
  });
});

describe('token Secrets', () => {
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: {} };
  it('given one that is not filled, when read, then there is no token', () => {
    expect(tokenOf(object)).toBeUndefined();
    expect(tokenOf({ ...object, data: { token: '' } })).toBeUndefined();
  });
  it('given one that is filled, when read, then it is the token', () => {
    expect(tokenOf({ ...object, data: { token: Buffer.from('abc').toString('base64') } })).toBe('abc');
  });
});

describe('tokenEnd', () => {
  const jwt = (claims: unknown) => `head.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`;

  it.each([
    ['a bound token', jwt({ exp: 1_767_225_600 }), 1_767_225_600_000],
    ['a token without end', jwt({ sub: 'a' }), undefined],
    ['a claim that is no number', jwt({ exp: 'soon' }), undefined],
    ['null', jwt(null), undefined],
    ['an opaque token', 'abc', undefined],
    ['nothing', '', undefined],
  ])('of %s', (_what, token, end) => {
    expect(tokenEnd(token)).toBe(end);
  });
});
