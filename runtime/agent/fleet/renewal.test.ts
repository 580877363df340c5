import { describe, expect, it, vi } from 'vitest';
import type { KubeClient } from '../../kube/client.ts';
import type { AgentCredential } from './credential.ts';
import { renewalDelay, renewalRetryDelay, renewCredential } from './renewal.ts';

const token = (claims: object): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`;
const credential = (text: string): AgentCredential => ({
  config: { server: 'https://hub', token: text, contextName: 'default' },
  clusterNamespace: 'w',
  clusterName: 'c',
  deploymentNamespace: 'd',
});

describe('renewalDelay', () => {
  it('given a token of 3 hours, then it is due after 2', () => {
    expect(renewalDelay(token({ iat: 0, exp: 10_800 }), 0)).toBe(7_200_000);
    expect(renewalDelay(token({ iat: 0, exp: 10_800 }), 7_199_000)).toBe(1000);
  });

  it('given a token past that, or past its end, then it is due now', () => {
    expect(renewalDelay(token({ iat: 0, exp: 10_800 }), 8_000_000)).toBe(0);
    expect(renewalDelay(token({ iat: 0, exp: 10_800 }), 1e12)).toBe(0);
  });

  it('given a token without end, or one that cannot be read, then it is never due', () => {
    expect(renewalDelay(token({ sub: 'x' }))).toBeUndefined();
    expect(renewalDelay('opaque')).toBeUndefined();
  });

  it('given no time of issue, then it is due at its end', () => {
    expect(renewalDelay(token({ exp: 100 }), 0)).toBe(100_000);
  });
});

describe('renewalRetryDelay', () => {
  it('given 40 minutes left, then 10 are waited; never under a second, never over an hour', () => {
    expect(renewalRetryDelay(token({ exp: 2400 }), 0)).toBe(600_000);
    expect(renewalRetryDelay(token({ exp: 2400 }), 2_400_000)).toBe(1000);
    expect(renewalRetryDelay(token({ exp: 86_400 * 30 }), 0)).toBe(3_600_000);
  });
});

describe('renewCredential', () => {
  it('given an expiring token, then one of the same life is asked for, for its own ServiceAccount', async () => {
    const createToken = vi.fn().mockResolvedValue({ token: 'new', expirationTimestamp: '' });
    const hub = { server: 'https://hub', createToken } as unknown as KubeClient;
    const old = credential(token({ sub: 'system:serviceaccount:d:sa', iat: 0, exp: 3600 }));
    const renewed = await renewCredential(hub, old);
    expect(renewed).toEqual({ ...old, config: { ...old.config, token: 'new' } });
    expect(createToken).toHaveBeenCalledWith({ namespace: 'd', name: 'sa' }, { expirationSeconds: 3600 }, {});
  });

  it('given a token that names no ServiceAccount, then it fails with a reason', async () => {
    const hub = { server: 'https://hub' } as KubeClient;
    await expect(renewCredential(hub, credential('opaque'))).rejects.toMatchObject({ reason: 'RenewalFailed' });
  });
});
