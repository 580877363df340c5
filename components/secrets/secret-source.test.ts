import { App, Chart, Testing } from 'cdk8s';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { Agent, GitRepo, RegisteredCluster, synthAgent, synthCluster, synthGitRepo, synthHub } from '../fleet/index.ts';
import type { SealedSecretObject, SecretSource } from './index.ts';

const store = { secretStoreRef: { name: 'vault' }, remoteRef: { key: 'fleet/stores' } };
const sealed = (
  name: string,
  key: string,
  metadata: object = { namespace: 'cattle-fleet-system' },
): SealedSecretObject => ({
  apiVersion: 'bitnami.com/v1alpha1',
  kind: 'SealedSecret',
  metadata: { name, ...metadata },
  spec: { encryptedData: { [key]: 'AgBy3i4OJSWK' }, template: { type: 'Opaque' } },
});
const of = (kind: string, objects: readonly KubeObject[]) => objects.filter((object) => object.kind === kind);
const image = 'muster:test';

describe('given an agent whose token comes from elsewhere', () => {
  test('when External Secrets makes it, then the ExternalSecret names store, key and Secret', () => {
    const objects = synthAgent({ image, bootstrapSecret: { externalSecret: store } });
    expect(of('ExternalSecret', objects)).toEqual([
      {
        apiVersion: 'external-secrets.io/v1',
        kind: 'ExternalSecret',
        metadata: {
          name: 'fleet-agent-bootstrap',
          namespace: 'cattle-fleet-system',
          labels: { 'app.kubernetes.io/managed-by': 'muster' },
        },
        spec: {
          refreshInterval: '1h',
          secretStoreRef: { name: 'vault', kind: 'SecretStore' },
          target: { name: 'fleet-agent-bootstrap', creationPolicy: 'Owner' },
          data: [{ secretKey: 'values', remoteRef: { key: 'fleet/stores' } }],
        },
      },
    ]);
    expect(of('Secret', objects)).toEqual([]);
  });

  test('when the entry of the store has the keys, then all of it becomes the Secret', () => {
    const externalSecret = { ...store, extract: true, refreshInterval: '0' };
    expect(of('ExternalSecret', synthAgent({ image, bootstrapSecret: { externalSecret } }))).toMatchObject([
      { spec: { refreshInterval: '0', dataFrom: [{ extract: { key: 'fleet/stores' } }] } },
    ]);
  });

  test('when it is sealed, then the object passes as it is', () => {
    const sealedSecret = sealed('fleet-agent-bootstrap', 'values');
    expect(of('SealedSecret', synthAgent({ image, bootstrapSecret: { sealedSecret } }))).toEqual([sealedSecret]);
  });

  test('when it exists, then nothing is added', () => {
    expect(synthAgent({ image, bootstrapSecret: { name: 'fleet-agent-bootstrap' } })).toEqual(synthAgent({ image }));
  });
});

describe('given other places that need a credential', () => {
  test('a kubeconfig is one key, and its Secret is made in the workspace', () => {
    const objects = synthCluster({ name: 'east', namespace: 'team-a', kubeconfigSecret: { externalSecret: store } });
    expect(objects).toMatchObject([
      {
        kind: 'ExternalSecret',
        metadata: { name: 'east-kubeconfig', namespace: 'team-a' },
        spec: { data: [{ secretKey: 'value' }] },
      },
      { kind: 'Cluster', spec: { kubeConfigSecret: 'east-kubeconfig' } },
    ]);
    expect(objects[1]).not.toHaveProperty('spec.kubeConfigSecretNamespace');
  });

  test.each([
    ['https://git.test/a', 'kubernetes.io/basic-auth'],
    ['git@git.test:a/b', 'kubernetes.io/ssh-auth'],
    ['ssh://git@git.test/a', 'kubernetes.io/ssh-auth'],
  ])('the Secret for %s is of type %s', (repo, type) => {
    expect(synthGitRepo({ name: 'apps', repo, clientSecret: { externalSecret: store } })).toMatchObject([
      {
        kind: 'ExternalSecret',
        metadata: { name: 'apps-git' },
        spec: { target: { name: 'apps-git', template: { type } }, dataFrom: [{ extract: { key: 'fleet/stores' } }] },
      },
      { kind: 'GitRepo', spec: { clientSecretName: 'apps-git' } },
    ]);
  });

  test('pull Secrets of a hub are made beside it', () => {
    const objects = synthHub({
      image,
      config: {},
      imagePullSecrets: [
        'b',
        { externalSecret: { ...store, name: 'a' } },
        { sealedSecret: sealed('c', '.dockerconfigjson') },
      ],
    });
    expect(of('ExternalSecret', objects)).toMatchObject([
      {
        metadata: { name: 'a', namespace: 'cattle-fleet-system' },
        spec: {
          target: { template: { type: 'kubernetes.io/dockerconfigjson' } },
          data: [{ secretKey: '.dockerconfigjson' }],
        },
      },
    ]);
    expect(of('Deployment', objects)).toMatchObject([
      { spec: { template: { spec: { imagePullSecrets: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } } } },
    ]);
  });
});

describe('given a source that cannot work', () => {
  const agent = (bootstrapSecret: SecretSource) => () => synthAgent({ image, bootstrapSecret });
  test.each<[string, () => unknown, string]>([
    ['another name', agent({ name: 'mine' }), 'must be called fleet-agent-bootstrap'],
    ['another namespace', agent({ name: 'fleet-agent-bootstrap', namespace: 'b' }), 'must be in cattle-fleet-system'],
    ['no store', agent({ externalSecret: { ...store, secretStoreRef: { name: '' } } }), 'is missing'],
    ['no key in the store', agent({ externalSecret: { ...store, remoteRef: { key: '' } } }), 'is missing'],
    [
      'a store of another kind',
      agent({ externalSecret: { ...store, secretStoreRef: { name: 'a', kind: 'Vault' as never } } }),
      'SecretStore or ClusterSecretStore',
    ],
    [
      'a Secret in clear',
      agent({ sealedSecret: { ...sealed('fleet-agent-bootstrap', 'values'), apiVersion: 'v1', kind: 'Secret' } }),
      'not a SealedSecret',
    ],
    [
      'a sealed key that nobody reads',
      agent({ sealedSecret: sealed('fleet-agent-bootstrap', 'a') }),
      'has no key values',
    ],
    [
      'an object sealed for another namespace',
      agent({ sealedSecret: sealed('fleet-agent-bootstrap', 'values', { namespace: 'b' }) }),
      'must be in cattle-fleet-system',
    ],
    [
      'an object sealed for no namespace',
      agent({ sealedSecret: sealed('fleet-agent-bootstrap', 'values', {}) }),
      'names no namespace',
    ],
    [
      'a pull Secret without a name',
      () => synthHub({ image, config: {}, imagePullSecrets: [{ externalSecret: store }] }),
      'not a valid name',
    ],
    [
      'an entry of one text for a Secret of several keys',
      () =>
        synthGitRepo({ name: 'a', repo: 'https://a', clientSecret: { externalSecret: { ...store, extract: false } } }),
      'must be true here',
    ],
    [
      'two sources',
      () => synthAgent({ image, bootstrapSecret: { name: 'fleet-agent-bootstrap' }, bootstrap: {} as never }),
      'both set',
    ],
  ])('%s is refused', (_, synth, message) => {
    expect(synth).toThrow(message);
    expect(synth).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
  });

  test('an object sealed for every namespace fits', () => {
    const annotations = { 'sealedsecrets.bitnami.com/cluster-wide': 'true' };
    const sealedSecret = sealed('fleet-agent-bootstrap', 'values', { annotations });
    expect(of('SealedSecret', synthAgent({ image, bootstrapSecret: { sealedSecret } }))).toMatchObject([
      { metadata: { namespace: 'cattle-fleet-system', annotations } },
    ]);
  });
});

describe('given a chart of the user with a credential in clear', () => {
  const bootstrap = {
    clusterNamespace: 'fleet-default',
    apiServerURL: 'https://hub',
    apiServerCA: '',
    token: 'bootstrap-token',
    tokenName: 't',
    systemRegistrationNamespace: 'r',
  };
  const chart = (): Chart => new Chart(new App(), 'chart');
  const envVars = [{ name: 'HTTPS_PROXY', value: 'http://me:s3cret@proxy' }];

  test.each<[string, () => unknown]>([
    ['values of a token', () => new Agent(chart(), 'a', { image, bootstrap })],
    ['a proxy', () => new Agent(chart(), 'a', { image, envVars })],
    ['a Cluster', () => new RegisteredCluster(chart(), 'c', { name: 'c', clientID: 'c', agent: { envVars } })],
    ['a GitRepo', () => new GitRepo(chart(), 'g', { name: 'g', repo: 'https://me:s3cret@git.test/a' })],
  ])('%s is refused', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'SECRET_IN_CLEAR' }) as Error);
  });

  test('it is let through when the user says that it is never committed', () => {
    const mine = chart();
    new Agent(mine, 'a', { image, bootstrap, allowSecrets: true });
    expect((Testing.synth(mine) as KubeObject[]).map(({ kind }) => kind)).toContain('Secret');
  });
});
