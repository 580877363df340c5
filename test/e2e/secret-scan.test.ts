import { describe, expect, it } from 'vitest';
import { findSecrets, secretsIn } from './secret-scan.ts';

describe('what the scan takes for a secret', () => {
  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}`;

  it.each([
    ['a bearer token in a log line', `authorization: Bearer ${jwt} sent`, jwt],
    ['a token of a kubeconfig in YAML', 'users: [{name: u, user: {token: admintoken}}]', 'admintoken'],
    ['a token of a kubeconfig in JSON', '{"users":[{"user":{"token":"admintoken"}}]}', 'admintoken'],
    ['a key of a kubeconfig', `client-key-data: ${'Q'.repeat(60)}`, 'Q'.repeat(60)],
    [
      'a line of a private key',
      `-----BEGIN PRIVATE KEY-----\n${'k'.repeat(64)}\n-----END PRIVATE KEY-----`,
      'k'.repeat(64),
    ],
  ])('finds %s', (_, text, secret) => {
    expect(secretsIn(text)).toContain(secret);
  });

  it('names the place and shows no more than the first characters', () => {
    expect(findSecrets(new Set([jwt]), 'hub.log', `x ${jwt} y`)).toEqual(['hub.log: eyJaaa…']);
    expect(findSecrets(new Set([jwt]), 'hub.log', 'nothing')).toEqual([]);
  });
});
