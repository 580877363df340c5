import { describe, expect, it } from 'vitest';
import { readClaims, serviceAccountOf } from './token-claims.ts';

const token = (payload: unknown): string =>
  ['{"alg":"RS256"}', typeof payload === 'string' ? payload : JSON.stringify(payload), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');

describe('readClaims', () => {
  it('given a ServiceAccount token, when read, then subject and times are there', () => {
    const claims = readClaims(token({ sub: 'system:serviceaccount:ns:agent', iat: 10, exp: 20, aud: ['x'] }));
    expect(claims).toEqual({ subject: 'system:serviceaccount:ns:agent', issuedAt: 10, expiresAt: 20 });
  });

  it('given the UID of its account, when read, then it is there', () => {
    const own = (serviceaccount: unknown) => token({ 'kubernetes.io': { namespace: 'ns', serviceaccount } });
    expect(readClaims(own({ name: 'agent', uid: 'u1' }))).toEqual({ accountUid: 'u1' });
    expect([own({ uid: 1 }), own(null), token({ 'kubernetes.io': null })].map(readClaims)).toEqual([{}, {}, {}]);
  });

  it.each(['opaque', '', 'a.b', 'a.!!.c', token('not json'), token('null'), token('"text"')])(
    'given %j, when read, then there are no claims and no error',
    (text) => {
      expect(readClaims(text)).toEqual({});
    },
  );

  it('given claims of wrong types, when read, then they are left out', () => {
    expect(readClaims(token({ sub: 1, iat: 'x', exp: null }))).toEqual({});
  });
});

describe('serviceAccountOf', () => {
  it('given the subject of a ServiceAccount, then its namespace and name are returned', () => {
    expect(serviceAccountOf({ subject: 'system:serviceaccount:ns:agent' })).toEqual({ namespace: 'ns', name: 'agent' });
  });

  it.each([undefined, 'user', 'system:serviceaccount:ns', 'system:serviceaccount:ns:a:b', 'system:node:x:y'])(
    'given the subject %j, then there is none',
    (subject) => {
      expect(serviceAccountOf(subject === undefined ? {} : { subject })).toBeUndefined();
    },
  );
});
