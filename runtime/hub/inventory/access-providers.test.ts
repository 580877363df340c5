import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { providersOf } from './access-providers.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const cluster: Cluster = {
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'east', namespace: 'fleet-default' },
  spec: { kubeConfigSecret: 'east-kubeconfig' },
};

function kubeconfig(more: { user?: object; cluster?: object; top?: object } = {}): Secret {
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [
      { name: 'a', cluster: { server: 'https://east:6443', 'tls-server-name': 'kubernetes', ...more.cluster } },
    ],
    users: [{ name: 'a', user: more.user ?? { token: 'not-for-profiles' } }],
    ...more.top,
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'east-kubeconfig', namespace: 'fleet-default' },
    data: { value: base64(JSON.stringify(document)) },
  };
}

const token = (type: string, key = 'token'): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: { name: 'east', namespace: 'fleet-default' },
  data: { [key]: base64('x') },
});
const names = (of: { kubeconfig?: Secret; token?: Secret }): string[] =>
  providersOf({ cluster, kubeconfig: of.kubeconfig, token: of.token }).map(({ name }) => name);

describe('ways to connect', () => {
  it('given a kubeconfig with a token, then the plugin is told where it is, and the token is not in it', () => {
    const providers = providersOf({ cluster, kubeconfig: kubeconfig(), token: undefined });
    expect(providers).toEqual([
      {
        name: 'kubeconfig-secretreader',
        cluster: {
          server: 'https://east:6443',
          'tls-server-name': 'kubernetes',
          extensions: [
            {
              name: 'client.authentication.k8s.io/exec',
              extension: { name: 'east-kubeconfig', namespace: 'fleet-default', key: 'value' },
            },
          ],
        },
      },
    ]);
    expect(JSON.stringify(providers)).not.toContain('not-for-profiles');
  });

  it.each<[string, Parameters<typeof kubeconfig>[0]]>([
    ['only a password', { user: { username: 'a', password: 'b' } }],
    ['extensions, which the plugin refuses', { top: { extensions: [{ name: 'x', extension: {} }] } }],
    ['a program to run', { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh' } } }],
    ['no check of certificates', { cluster: { 'insecure-skip-tls-verify': true } }],
    ['a password for its proxy', { cluster: { 'proxy-url': 'http://user:word@proxy:3128' } }],
  ])('given a kubeconfig with %s, then no plugin is named', (_what, more) => {
    expect(names({ kubeconfig: kubeconfig(more) })).toEqual([]);
  });

  it('given a Secret of the name of the Cluster, then the plugin for tokens is named when that Secret has one', () => {
    expect(names({ kubeconfig: kubeconfig(), token: token('Opaque') })).toEqual([
      'kubeconfig-secretreader',
      'secretreader',
    ]);
    expect(names({ kubeconfig: kubeconfig(), token: token('Opaque', 'values') })).toEqual(['kubeconfig-secretreader']);
    expect(names({ token: token('Opaque') })).toEqual([]);
  });

  it('given the token of an account of the hub, then it is sent to no other cluster', () => {
    const secret = token('kubernetes.io/service-account-token');
    expect(names({ kubeconfig: kubeconfig(), token: secret })).toEqual(['kubeconfig-secretreader']);
  });

  it('given a Cluster that a rule made, then the plugin is told key and context that the rule found', () => {
    const annotations = { 'muster.dev/kubeconfig': 'fleet-default/east-kubeconfig/value/a' };
    const made = { ...cluster, metadata: { ...cluster.metadata, annotations } };
    const [provider] = providersOf({ cluster: made, kubeconfig: kubeconfig(), token: undefined });
    expect(provider?.cluster?.extensions?.[0]?.extension).toEqual({
      ...{ name: 'east-kubeconfig', namespace: 'fleet-default' },
      ...{ key: 'value', context: 'a' },
    });
  });

  it('given a Secret with a token only, then no plugin for kubeconfigs is named, and the address is that of the rule', () => {
    const annotations = {
      'muster.dev/kubeconfig': 'fleet-default/east-kubeconfig/token',
      'muster.dev/endpoint': '{"server":"https://found:6443"}',
    };
    const made = { ...cluster, metadata: { ...cluster.metadata, annotations } };
    expect(providersOf({ cluster: made, kubeconfig: token('Opaque'), token: undefined })).toEqual([]);
    const [provider] = providersOf({ cluster: made, kubeconfig: token('Opaque'), token: token('Opaque') });
    expect([provider?.name, provider?.cluster?.server]).toEqual(['secretreader', 'https://found:6443']);
  });
});
