import { describe, expect, it } from 'vitest';
import type { ArgoCDConfig } from '../../../api/fleet/inventory-config.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { argoCDAccessName } from '../../../components/fleet/argocd-names.ts';
import { argoCDSecret } from '../../../components/fleet/argocd-secret.ts';
import { recordOf, withRecord } from './argocd-record.ts';
import { settingsFor, settingsOf, settingsRevision } from './argocd-settings.ts';

const cluster = (labels: Record<string, string> = {}, message?: string): Cluster => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'east', namespace: 'fleet-default', uid: 'u1', labels },
  spec: { kubeConfigSecret: 'east-kubeconfig' },
  status: message === undefined ? {} : { conditions: [{ type: 'ArgoCDPublished', status: 'True', message }] },
});
const config = (argoCD: Partial<ArgoCDConfig>) => ({ inventory: { argoCD: { namespace: 'argocd', ...argoCD } } });

describe('who is published to Argo CD', () => {
  it('given no option, then nobody; given one without selector, then all; given one, then those that match', () => {
    expect(settingsFor({}, cluster())).toBeUndefined();
    expect(settingsFor(config({}), cluster())).toMatchObject({ namespace: 'argocd' });
    const selector = { matchLabels: { env: 'prod' } };
    expect(settingsFor(config({ selector }), cluster())).toBeUndefined();
    expect(settingsFor(config({ selector }), cluster({ env: 'prod' }))).toBeDefined();
  });

  it('given a Cluster that another manager looks after, then not', () => {
    expect(settingsFor(config({}), cluster({ 'fleet.cattle.io/cluster-management': 'x' }))).toBeUndefined();
  });

  it('given that it is suspended, then nothing changes for anybody', () => {
    expect(settingsFor(config({ suspend: true }), cluster())).toBe('suspended');
  });

  it('given no role, then it may look at the whole cluster, or work in the namespaces that are named', () => {
    expect(settingsOf({ namespace: 'argocd' })).toEqual({
      namespace: 'argocd',
      clusterRole: 'view',
      ttlMs: 43_200_000,
    });
    expect(settingsOf({ namespace: 'argocd', namespaces: ['b', 'a', 'b'], tokenTTL: '1h' })).toEqual({
      namespace: 'argocd',
      namespaces: ['a', 'b'],
      clusterRole: 'edit',
      ttlMs: 3_600_000,
    });
  });
});

describe('the digest of what a Secret is made from', () => {
  const kubeconfig = ['fleet-default/east-kubeconfig', 'uid', '17'];
  const of = (argoCD: Partial<ArgoCDConfig>, labels = {}, version = kubeconfig): string =>
    settingsRevision(settingsOf({ namespace: 'argocd', ...argoCD }), cluster(labels), {
      kubeconfig: version,
      tlsMode: undefined,
    });

  it('given the same in another order, then it is the same', () => {
    expect(of({ namespaces: ['a', 'b'] }, { x: '1', y: '2' })).toBe(of({ namespaces: ['b', 'a'] }, { y: '2', x: '1' }));
    expect(of({}, { 'muster.dev/rule': 'x' })).toBe(of({}));
  });

  it.each<[string, string]>([
    ['the role', of({ clusterRole: 'admin' })],
    ['the namespaces', of({ namespaces: ['a'] })],
    ['the project', of({ project: 'a' })],
    ['the life of tokens', of({ tokenTTL: '1h' })],
    ['a label', of({}, { env: 'prod' })],
    ['the kubeconfig', of({}, {}, ['fleet-default/east-kubeconfig', 'uid', '18'])],
  ])('given a change of %s, then it is another', (_what, revision) => {
    expect(revision).toMatch(/^[0-9a-f]{12}$/);
    expect(revision).not.toBe(of({}));
  });
});

describe('the record of a publication', () => {
  const place = { namespace: 'argocd', name: 'cluster-fleet-default-east-0123456789ab' };
  const content = { revision: '0123456789ab', renewMs: Date.parse('2026-11-30T11:00:00Z') };

  it.each([[place], [{ ...place, content }]])('given %o, when written and read, then it is the same', (record) => {
    expect(recordOf(cluster({}, withRecord('some words (with brackets)', record)))).toEqual(record);
  });

  it('given no record, or what somebody else wrote, then there is none', () => {
    for (const message of [undefined, '', withRecord('nothing', undefined), 'a (Secret b)', '(Secret ../x/y)']) {
      expect(recordOf(cluster({}, message))).toBeUndefined();
    }
  });
});

describe('the Secret of Argo CD', () => {
  it('given labels that would make it something else, then they do not', () => {
    const secret = argoCDSecret({
      namespace: 'argocd',
      cluster: { namespace: 'fleet-default', name: 'east' },
      labels: { env: 'prod', 'argocd.argoproj.io/secret-type': 'repository' },
      server: 'https://east:6443',
      ca: 'PEM',
      token: 't',
      namespaces: ['b', 'a'],
      project: 'stores',
    });
    expect(secret.metadata.labels).toEqual({
      env: 'prod',
      'argocd.argoproj.io/secret-type': 'cluster',
      'app.kubernetes.io/managed-by': 'muster',
    });
    const text = (key: string): string => Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
    expect(['name', 'server', 'namespaces', 'clusterResources', 'project'].map(text)).toEqual([
      'fleet-default-east',
      'https://east:6443',
      'a,b',
      'false',
      'stores',
    ]);
    expect(JSON.parse(text('config'))).toEqual({
      bearerToken: 't',
      tlsClientConfig: { insecure: false, caData: Buffer.from('PEM').toString('base64') },
    });
  });

  it('given two hubs, or two Clusters, then their accounts in one cluster differ', () => {
    const names = [
      argoCDAccessName('hub-1', 'a/east'),
      argoCDAccessName('hub-2', 'a/east'),
      argoCDAccessName('hub-1', `${'a'.repeat(63)}/${'b'.repeat(63)}`),
      argoCDAccessName('hub-1', `${'a'.repeat(63)}/${'b'.repeat(62)}c`),
    ];
    expect(new Set(names).size).toBe(4);
  });
});
