import { describe, expect, it } from 'vitest';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { MemoryCluster } from '../../../test/support/memory-cluster.ts';
import { fingerprint, forget, recall, remember, requestName, send, toRegistration } from './request.ts';

const key = { namespace: 'agents', name: 'fleet-agent-bootstrap' };
const values: BootstrapValues = {
  clusterNamespace: 'fleet-default',
  apiServerURL: 'https://hub',
  apiServerCA: '',
  token: 'opaque-token',
  tokenName: 'tok',
  systemRegistrationNamespace: 'cattle-fleet-clusters-system',
};

function edge(): { cluster: MemoryCluster; secret: () => Secret } {
  const cluster = new MemoryCluster('https://edge');
  cluster.add(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: key, data: { token: 'dA==' } });
  return { cluster, secret: () => cluster.one(Secrets, key) ?? expect.fail('no Secret') };
}

describe('remember', () => {
  it('given a fresh Secret, then a request is written down and recalled unchanged, without another write', async () => {
    const { cluster, secret } = edge();
    const first = await remember(cluster.client(), secret(), values, 'id');
    expect(first.request.clientRandom).toMatch(/^[a-z0-9]{54}$/);
    const writes = cluster.calls.length;
    const second = await remember(cluster.client(), secret(), values, 'id');
    expect(second.request).toEqual(first.request);
    expect(cluster.calls).toHaveLength(writes);
    expect(secret().data).toEqual({ token: 'dA==' });
  });

  it.each([
    ['another clientID', values, 'other'],
    ['another hub', { ...values, apiServerURL: 'https://other' }, 'id'],
    ['another workspace', { ...values, clusterNamespace: 'other' }, 'id'],
    ['another token', { ...values, token: 'other-token' }, 'id'],
  ])('given a request remembered for %s, then a new one is made', async (_, changed, clientID) => {
    const { cluster, secret } = edge();
    const first = await remember(cluster.client(), secret(), values, 'id');
    const second = await remember(cluster.client(), secret(), changed, clientID);
    expect(second.request.clientRandom).not.toBe(first.request.clientRandom);
  });

  it('given a Secret that changed since it was read, then it is refused instead of mixing two tokens', async () => {
    const { cluster, secret } = edge();
    const old = secret();
    cluster.add(Secrets, { ...old, data: { token: 'bmV3' } });
    await expect(remember(cluster.client(), old, values, 'id')).rejects.toMatchObject({ status: 409 });
  });

  it('given a request that is forgotten, then the next one is new', async () => {
    const { cluster, secret } = edge();
    const first = await remember(cluster.client(), secret(), values, 'id');
    await forget(cluster.client(), first.secret);
    const second = await remember(cluster.client(), secret(), values, 'id');
    expect(second.request.clientRandom).not.toBe(first.request.clientRandom);
  });

  it.each(['', 'null', '{}', '{"clientRandom":1}', '{"clientRandom":"x","createdAt":"never","for":"y"}'])(
    'given the annotation %j, then nothing is recalled',
    (text) => {
      const metadata = { ...key, annotations: { [annotations.registrationRequest]: text } };
      expect(recall({ apiVersion: 'v1', kind: 'Secret', metadata }, values, 'id')).toBeUndefined();
    },
  );
});

describe('fingerprint', () => {
  const token = (subject: string, id: string): string =>
    `x.${Buffer.from(JSON.stringify({ sub: subject, jti: id })).toString('base64url')}.y`;

  it('given another token of the same ServiceAccount, then it is the same request', () => {
    const of = (text: string): string => fingerprint({ ...values, token: text }, 'id');
    expect(of(token('system:serviceaccount:a:b', '1'))).toBe(of(token('system:serviceaccount:a:b', '2')));
    expect(of(token('system:serviceaccount:a:b', '1'))).not.toBe(of(token('system:serviceaccount:a:c', '1')));
  });
});

describe('send', () => {
  const request = { clientID: 'id', clientRandom: 'random', createdAt: '2026-11-29T00:00:00Z', for: 'x' };

  it('given the same request sent twice, then the hub has one', async () => {
    const hub = new MemoryCluster('https://hub');
    const registration = toRegistration(request, values, { labels: { env: 'dev' }, podName: 'pod' });
    await send(hub.client(), registration);
    await send(hub.client(), registration);
    expect(hub.all(ClusterRegistrations)).toHaveLength(1);
  });

  it('given a request, then it is what a Fleet hub expects, with our wish for a short-lived token', () => {
    expect(toRegistration(request, values, { labels: { env: 'dev' }, podName: 'pod' })).toEqual({
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'ClusterRegistration',
      metadata: {
        name: requestName(request),
        namespace: 'fleet-default',
        labels: { 'fleet.cattle.io/registration-token': 'tok' },
        annotations: { 'muster.dev/credential': 'rotating' },
      },
      spec: {
        clientID: 'id',
        clientRandom: 'random',
        clusterLabels: { env: 'dev', 'fleet.cattle.io/created-by-agent-pod': 'pod' },
      },
    });
    expect(requestName(request)).toMatch(/^request-[0-9a-f]{20}$/);
  });
});
