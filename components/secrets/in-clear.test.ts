import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { synthAgent, synthCluster, synthCrds, synthGitRepo, synthHub } from '../fleet/index.ts';
import type { AgentProps } from '../fleet/index.ts';
import { refuseSecretsInClear, secretsInClear } from './in-clear.ts';

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = `${part({ alg: 'RS256', kid: 'k' })}.${part({ sub: 'system:serviceaccount:a:b' })}.${'s'.repeat(40)}`;
const pemKey = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIA==\n-----END EC PRIVATE KEY-----\n';
const certificate = `-----BEGIN CERTIFICATE-----\n${'MIIB'.repeat(40)}\n-----END CERTIFICATE-----\n`;
const kubeconfig = `apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    client-key-data: ${Buffer.from(pemKey).toString('base64')}\n`;

const object = (kind: string, rest: object, apiVersion = 'v1'): KubeObject =>
  ({ apiVersion, kind, metadata: { name: 'x', namespace: 'n' }, ...rest }) as KubeObject;
const configMap = (text: string): KubeObject => object('ConfigMap', { data: { config: text } });
const withEnv = (name: string, value: string): KubeObject =>
  object('Deployment', { spec: { template: { spec: { containers: [{ env: [{ name: 'A' }, { name, value }] }] } } } });
const env = 'spec.template.spec.containers[0].env[1].value';

describe('given a manifest that holds a credential', () => {
  test.each<[string, KubeObject, string, string]>([
    ['a Secret', object('Secret', { data: { token: 'YQ==' } }), 'data.token', 'a value of a Secret'],
    ['a Secret in plain text', object('Secret', { stringData: { a: 'b' } }), 'stringData.a', 'a value of a Secret'],
    ['a token of an account', configMap(`x: ${jwt}`), 'data.config', 'a token (JWT)'],
    ['a token in base64', configMap(Buffer.from(jwt).toString('base64')), 'data.config', 'a token (JWT) in base64'],
    ['a private key', configMap(pemKey), 'data.config', 'a private key'],
    ['a private key in JSON', configMap(JSON.stringify({ key: pemKey })), 'data.config', 'a private key'],
    ['a kubeconfig', configMap(kubeconfig), 'data.config', 'a token, key or password by name'],
    [
      'a kubeconfig in base64',
      configMap(Buffer.from(kubeconfig).toString('base64')),
      'data.config',
      'a kubeconfig or pull secret in base64',
    ],
    ['values of a token', configMap('clusterNamespace: a\ntoken: kv7s2bq9wd\n'), 'data.config', 'by name'],
    ['a password by its variable', withEnv('DB_PASSWORD', 'hunter2'), env, 'the value of DB_PASSWORD'],
    ['a token by its variable', withEnv('GITHUB_TOKEN', 'abc'), env, 'the value of GITHUB_TOKEN'],
    [
      'a proxy with a password',
      withEnv('HTTPS_PROXY', 'http://me:s3cret@proxy:3128'),
      env,
      'an address with a password',
    ],
    ['a token of GitHub', withEnv('X', `ghp_${'a1B2'.repeat(9)}`), env, 'an access token'],
    [
      'a password among template values',
      object('Cluster', { spec: { templateValues: { db: { password: 'hunter2' } } } }, 'fleet.cattle.io/v1alpha1'),
      'spec.templateValues.db.password',
      'the value of password',
    ],
    [
      'the annotation of a client-side apply',
      { ...configMap(''), metadata: { name: 'x', annotations: { last: JSON.stringify({ token: 'kv7s2bq9wd' }) } } },
      'metadata.annotations.last',
      'by name',
    ],
  ])('%s is found with its place', (_, manifest, path, what) => {
    expect(secretsInClear([manifest])).toEqual([
      { object: expect.stringContaining(manifest.kind) as string, path, what: expect.stringContaining(what) as string },
    ]);
  });

  test('it is refused without a word of what it is', () => {
    const manifests = [withEnv('DB_PASSWORD', 'hunter2'), object('Secret', { data: { token: 'c2VjcmV0' } })];
    const refused = (): string => {
      try {
        refuseSecretsInClear(manifests);
        return '';
      } catch (error) {
        expect(error).toMatchObject({ code: 'SECRET_IN_CLEAR' });
        return (error as { describe(): string }).describe();
      }
    };
    expect(refused()).toContain('Deployment n/x has the value of DB_PASSWORD');
    expect(refused()).toContain('Secret n/x has a value of a Secret in data.token');
    expect(refused()).toContain('ExternalSecret');
    expect(refused()).not.toMatch(/hunter2|c2VjcmV0/);
  });

  test('many of them are counted, not listed', () => {
    const data = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`k${index}`, 'YQ==']));
    expect(() => refuseSecretsInClear([object('Secret', { data })])).toThrow('and 4 more');
  });
});

describe('given a manifest that only refers to credentials', () => {
  test.each<[string, KubeObject]>([
    ['a Secret without values', object('Secret', { type: 'Opaque', data: { token: '' } })],
    ['a reference', withEnv('DB_PASSWORD', '$(OTHER)')],
    ['a template', configMap('password: {{ .Values.password }}')],
    ['a label', { ...configMap(''), metadata: { name: 'x', labels: { secret: 'vault' } } }],
    ['a switch', withEnv('USE_TOKEN', 'true')],
    ['a file', withEnv('AWS_WEB_IDENTITY_TOKEN', '/var/run/secrets/token')],
    ['a time', withEnv('TOKEN_TTL', '24h')],
    ['a proxy without a password', withEnv('HTTPS_PROXY', 'http://proxy:3128')],
    ['a certificate', configMap(certificate)],
    ['a certificate in base64', configMap(Buffer.from(certificate).toString('base64'))],
    ['an image by digest', withEnv('IMAGE', `registry/a@sha256:${'0a'.repeat(32)}`)],
    [
      'a sealed object',
      object('SealedSecret', { spec: { encryptedData: { password: 'AgBy3i4OJSWK+PiTySYZZA9rO43cGDEq' } } }),
    ],
    [
      'an ExternalSecret',
      object('ExternalSecret', { spec: { data: [{ secretKey: 'token', remoteRef: { key: 'fleet/stores' } }] } }),
    ],
    [
      'a schema with such names',
      object('CustomResourceDefinition', { spec: { description: 'token: of the registry\npassword: the users own' } }),
    ],
  ])('%s is none', (_, manifest) => {
    expect(secretsInClear([manifest])).toEqual([]);
  });
});

describe('given manifests of this package', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
  const words = fc.dictionary(label, label, { maxKeys: 4 });

  test('their definitions hold none', () => {
    expect(secretsInClear(synthCrds())).toEqual([]);
  });

  test('whatever names, labels and settings they have, they hold none', () => {
    const settings = fc.record({
      namespace: label,
      clientID: fc.oneof(label, fc.uuid()),
      labels: words,
      replicas: fc.integer({ min: 0, max: 3 }),
      agentTLSMode: fc.constantFrom('system-store', 'strict'),
      checkinInterval: fc.constantFrom('15m', '1h30m'),
      url: fc.webUrl({ validSchemes: ['https'] }),
      secret: label,
      image: fc
        .tuple(fc.domain(), label, fc.constantFrom('0', 'a', 'f'))
        .map(([host, name, digit]) => `${host}/${name}@sha256:${digit.repeat(64)}`),
    });
    fc.assert(
      fc.property(settings, ({ url, secret, image, ...props }) => {
        const agent: AgentProps = {
          ...props,
          image,
          imagePullSecrets: [secret],
          bootstrapSecret: {
            externalSecret: { secretStoreRef: { name: secret }, remoteRef: { key: secret, property: 'token' } },
          },
        };
        const { namespace, labels } = props;
        expect(
          secretsInClear([
            ...synthHub({
              image,
              namespace,
              config: { apiServerURL: url, apiServerCA: certificate },
              workspaces: [secret],
            }),
            ...synthAgent(agent),
            ...synthCluster({ name: namespace, labels, kubeconfigSecret: { name: secret } }),
            ...synthGitRepo({ name: namespace, repo: url, clientSecret: { name: secret } }),
          ]),
        ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('values of a token are found however the agent is set', () => {
    const values = fc.record({
      clusterNamespace: label,
      apiServerURL: fc.constant('https://hub'),
      apiServerCA: fc.constantFrom('', certificate),
      token: fc.oneof(fc.constant(jwt), fc.string({ minLength: 1 })),
      tokenName: label,
      systemRegistrationNamespace: label,
    });
    fc.assert(
      fc.property(values, (bootstrap) => {
        const found = secretsInClear(synthAgent({ image: 'muster:test', bootstrap }));
        expect(found).toContainEqual({
          object: 'Secret cattle-fleet-system/fleet-agent-bootstrap',
          path: 'data.token',
          what: 'a value of a Secret',
        });
      }),
      { numRuns: 30 },
    );
  });
});
