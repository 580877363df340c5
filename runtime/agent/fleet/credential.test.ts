import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { MemoryCluster } from '../../../test/support/memory-cluster.ts';
import { credentialOf, parseCredential, readCredential, storeCredential } from './credential.ts';

const grant = {
  server: 'https://hub.example:6443',
  ca: rootCertificates[0] ?? '',
  token: 'very-secret',
  clusterNamespace: 'fleet-default',
  clusterName: 'east',
  deploymentNamespace: 'cluster-fleet-default-east-1',
};
const key = { namespace: 'agents', name: 'fleet-agent' };
const secret = (data: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: key,
  data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString('base64')])),
});

describe('the stored credential', () => {
  it('given a credential, when stored and read, then it is the same', async () => {
    const edge = new MemoryCluster('https://edge');
    await storeCredential(edge.client(), 'agents', credentialOf(grant));
    const read = await readCredential(edge.client(), 'agents');
    expect(read).toMatchObject({
      config: { server: grant.server, token: grant.token, namespace: grant.deploymentNamespace },
      clusterNamespace: 'fleet-default',
      clusterName: 'east',
    });
    expect(read?.config.ca?.trim()).toBe(grant.ca.trim());
    expect(Object.keys(edge.one(Secrets, key)?.data ?? {}).sort()).toEqual([
      'clusterName',
      'clusterNamespace',
      'deploymentNamespace',
      'kubeconfig',
    ]);
  });

  it('given a publicly trusted hub, then the kubeconfig has no CA', async () => {
    const edge = new MemoryCluster('https://edge');
    const { ca: _, ...rest } = grant;
    await storeCredential(edge.client(), 'agents', credentialOf(rest));
    expect((await readCredential(edge.client(), 'agents'))?.config.ca).toBeUndefined();
  });

  it("given the kubeconfig of Fleet's agent, then it is read", () => {
    const kubeconfig = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(grant.ca).toString('base64')}
    server: https://hub.example:6443
  name: cluster
contexts:
- context: {cluster: cluster, namespace: cluster-x, user: user}
  name: default
current-context: default
kind: Config
preferences: {}
users:
- name: user
  user: {token: abc}
`;
    const place = { deploymentNamespace: 'cluster-x', clusterNamespace: 'w', clusterName: 'c' };
    expect(parseCredential(secret({ kubeconfig, ...place }))).toMatchObject({
      config: { server: 'https://hub.example:6443', token: 'abc', namespace: 'cluster-x' },
      ...place,
    });
  });

  it.each([
    ['nothing', {}],
    ['no cluster', { kubeconfig: 'x', clusterNamespace: 'w', deploymentNamespace: 'd' }],
    ['no kubeconfig', { clusterName: 'c', clusterNamespace: 'w', deploymentNamespace: 'd' }],
    ['a broken kubeconfig', { kubeconfig: '{', clusterName: 'c', clusterNamespace: 'w', deploymentNamespace: 'd' }],
  ])('given %s, then it is told as CredentialInvalid', (_, data: Record<string, string>) => {
    expect(() => parseCredential(secret(data))).toThrow(
      expect.objectContaining({ reason: 'CredentialInvalid', code: 'INVALID_KUBECONFIG' }) as Error,
    );
  });

  it('given no Secret, then there is no credential', async () => {
    expect(await readCredential(new MemoryCluster('https://edge').client(), 'agents')).toBeUndefined();
  });
});
