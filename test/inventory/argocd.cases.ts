/** Cluster Secrets of Argo CD on real control planes; run by inventory.real.test.ts. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ArgoCDConfig } from '../../api/fleet/inventory-config.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces, Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings } from '../../api/kubernetes/rbac.ts';
import { argoCDSecretName } from '../../components/fleet/argocd-names.ts';
import { synthHub } from '../../components/fleet/index.ts';
import { poll } from '../harness/index.ts';
import { applyAll } from '../support/hub-plane.ts';
import type { InventoryWorld } from './world.ts';
import { register } from './world.ts';
import { clusterThat, condition, workspace } from '../support/registering.ts';
import type { RunningHub } from '../support/running-hub.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createClient } from '../../runtime/kube/create-client.ts';

const selector = { matchLabels: { env: 'prod' } };
let hub: RunningHub;
let downstream: KubeClient;
let world: InventoryWorld;
/** Every token that was given out: none may be seen anywhere else. */
const tokens: string[] = [];
let eastAccount = '';

const key = (name: string) => ({ namespace: workspace, name });
const place = (name: string) => ({ namespace: 'argocd', name: argoCDSecretName(workspace, name) });
const text = (secret: Secret | undefined, field: string) =>
  Buffer.from(secret?.data?.[field] ?? '', 'base64').toString();
const find = (name: string) => hub.admin.find(Secrets, place(name));
const state = (c: Cluster) => condition(c, 'ArgoCDPublished');
const says = (name: string, reason: string) => clusterThat(hub, name, (c) => state(c)?.reason === reason, reason);
const published = (name: string) => clusterThat(hub, name, (c) => state(c)?.status === 'True', 'published');
const accounts = async () =>
  (await downstream.list(ServiceAccounts, { namespace: 'muster-argocd', labelSelector: 'muster.dev/argocd' })).items;
const relabel = (name: string, labels: Record<string, string | null>) =>
  hub.admin.patch(Clusters, key(name), { metadata: { labels } }, { type: 'merge' });

function tokenOf(secret: Secret | undefined): string {
  const { bearerToken = '' } = JSON.parse(text(secret, 'config') || '{}') as { bearerToken?: string };
  if (bearerToken !== '') tokens.push(bearerToken);
  return bearerToken;
}

/** Waits for another token than `before`. */
const newToken = (name: string, before: string) =>
  poll(
    async () => {
      const token = tokenOf(await find(name));
      return token !== '' && token !== before ? token : undefined;
    },
    { what: `another token for ${name}` },
  );

const gone = (name: string) =>
  poll(async () => ((await find(name)) === undefined ? true : undefined), {
    what: `no Secret of ${name}`,
    limitMs: 20_000,
  });

/** What Argo CD does with a Secret. */
async function withSecret<T>(secret: Secret | undefined, use: (client: KubeClient) => Promise<T>): Promise<T> {
  const { tlsClientConfig } = JSON.parse(text(secret, 'config')) as { tlsClientConfig: { caData: string } };
  const ca = Buffer.from(tlsClientConfig.caData, 'base64').toString();
  const client = createClient({ server: text(secret, 'server'), ca, token: tokenOf(secret), contextName: 'argocd' });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const configMap = (namespace: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'app', namespace },
});
const configure = (argoCD: Partial<ArgoCDConfig> | undefined) =>
  hub.configure(argoCD === undefined ? {} : { inventory: { argoCD: { namespace: 'argocd', ...argoCD } } });

export function describeArgoCD(start: () => InventoryWorld): void {
  describe('Clusters for Argo CD', { timeout: 60_000 }, () => {
    beforeAll(async () => {
      world = start();
      ({ hub, downstream } = world);
      await hub.admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
      await relabel('east', { env: 'prod', tier: null });
      await Promise.all([
        register(world, 'west', { labels: { env: 'test' }, reachable: true }),
        register(world, 'behind', { labels: { env: 'prod' } }),
      ]);
    });

    it('given a hub without the rights, when it is configured, then Clusters say so, and go on when the manifests are applied', async () => {
      await configure({ selector });
      const told = await says('east', 'RightsMissing');
      expect(state(told)?.message).toContain('apply the manifests');
      const config = { inventory: { argoCD: { namespace: 'argocd' } } };
      await applyAll(
        hub.admin,
        synthHub({ image: 'muster:test', config }).filter(({ kind }) => kind !== 'ConfigMap'),
      );
      await published('east');
      eastAccount = (await accounts())[0]?.metadata.name ?? '';
    });

    it('given the Secret, when it is used as Argo CD uses it, then it may look at the cluster, and no more', async () => {
      const secret = await find('east');
      expect(secret?.metadata.labels).toEqual({
        env: 'prod',
        'argocd.argoproj.io/secret-type': 'cluster',
        'app.kubernetes.io/managed-by': 'muster',
      });
      expect(text(secret, 'name')).toBe('fleet-default-east');
      await withSecret(secret, async (client) => {
        expect((await client.list(ConfigMaps, { namespace: 'kube-system' })).items.length).toBeGreaterThan(0);
        await expect(client.create(ConfigMaps, configMap('default'))).rejects.toThrow('forbidden');
        await expect(client.list(Secrets, { namespace: 'kube-system' })).rejects.toThrow('forbidden');
        await expect(client.list(ClusterRoleBindings)).rejects.toThrow('forbidden');
      });
    });

    it('given Clusters without kubeconfig or of other labels, then the first says why it has no Secret, the others have none', async () => {
      await says('behind', 'NoKubeconfig');
      await hub.quiet();
      expect(state(await hub.admin.get(Clusters, key('west')))).toBeUndefined();
      const { items } = await hub.admin.list(Secrets, { namespace: 'argocd' });
      expect(items.map(({ metadata }) => metadata.name)).toEqual([place('east').name]);
    });

    it('given namespaces, when they are configured, then it may work there and there only, with another token', async () => {
      const before = tokenOf(await find('east'));
      await configure({ selector, namespaces: ['apps', 'shops'], project: 'stores', tokenTTL: '1h' });
      await newToken('east', before);
      const secret = await find('east');
      expect(['namespaces', 'clusterResources', 'project'].map((field) => text(secret, field))).toEqual([
        'apps,shops',
        'false',
        'stores',
      ]);
      await withSecret(secret, async (client) => {
        await client.create(ConfigMaps, configMap('apps'));
        await expect(client.create(ConfigMaps, configMap('default'))).rejects.toThrow('forbidden');
        await expect(client.list(RoleBindings, { namespace: 'apps' })).rejects.toThrow('forbidden');
      });
      await configure({ selector, namespaces: ['apps'], tokenTTL: '1h' });
      await newToken('east', tokenOf(secret));
      const bindings = await downstream.list(RoleBindings, { labelSelector: 'muster.dev/argocd' });
      expect(bindings.items.map(({ metadata }) => metadata.namespace)).toEqual(['apps']);
      expect((await downstream.list(ClusterRoleBindings, { labelSelector: 'muster.dev/argocd' })).items).toEqual([]);
    });

    it('given a new hub, when nothing has changed, then nothing is written at Argo CD or downstream', async () => {
      const look = async () => [
        (await hub.admin.list(Secrets, { namespace: 'argocd' })).items,
        await accounts(),
        (await downstream.list(RoleBindings, { labelSelector: 'muster.dev/argocd' })).items,
        state(await hub.admin.get(Clusters, key('east'))),
      ];
      await hub.quiet();
      const before = await look();
      await hub.stop();
      await hub.start();
      await hub.quiet();
      expect(await look()).toEqual(before);
    });

    it('given the time for it, when it comes, then the token is another; given another kubeconfig, then at once', async () => {
      const before = tokenOf(await find('east'));
      const { status } = await hub.admin.get(Clusters, key('east'));
      const soon = `${new Date(Date.now() + 2000).toISOString().slice(0, 19)}Z`;
      const conditions = status?.conditions?.map((each) => ({
        ...each,
        ...(each.type === 'ArgoCDPublished'
          ? { message: each.message?.replace(/renewed at [^)]*/, `renewed at ${soon}`) }
          : {}),
      }));
      await hub.admin.patch(
        Clusters,
        key('east'),
        { status: { conditions } },
        { type: 'merge', subresource: 'status' },
      );
      const second = await newToken('east', before);
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon));
      await hub.quiet();
      const data = { value: Buffer.from(`# rotated\n${world.edge.kubeconfig}`).toString('base64') };
      await hub.admin.patch(Secrets, { namespace: workspace, name: 'east-kubeconfig' }, { data }, { type: 'merge' });
      await newToken('east', second);
    });

    it('given a Secret of another under the name, when a Cluster begins to match, then it is left alone until it goes', async () => {
      const foreign = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: place('west'),
        stringData: { server: 'https://theirs' },
      };
      const { metadata } = await hub.admin.create(Secrets, foreign);
      await relabel('west', { env: 'prod' });
      await says('west', 'NameTaken');
      expect((await find('west'))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
      await hub.admin.delete(Secrets, place('west'));
      await published('west');
      expect(await accounts()).toHaveLength(2);
    });

    it('given a Cluster that matches no more, then its Secret and its account go, and those of others stay', async () => {
      await relabel('west', { env: 'test' });
      await gone('west');
      await clusterThat(hub, 'west', (c) => state(c) === undefined, 'without a condition');
      expect((await accounts()).map(({ metadata }) => metadata.name)).toEqual([eastAccount]);
      expect(await find('east')).toBeDefined();
    });

    it('given an edge that is gone, then its Cluster says so, delays no other, and goes without it when told to', async () => {
      await register(world, 'north', { labels: { env: 'prod' }, reachable: true });
      await published('north');
      const dead = world.edge.kubeconfig.replaceAll(world.edge.server, 'https://127.0.0.1:1');
      const data = { value: Buffer.from(dead).toString('base64') };
      await hub.admin.patch(Secrets, { namespace: workspace, name: 'north-kubeconfig' }, { data }, { type: 'merge' });
      const told = await says('north', 'ClusterUnreachable');
      expect(state(told)?.message).toContain(`(Secret argocd/${place('north').name}, revision `);
      expect(await find('north')).toBeDefined();
      const before = tokenOf(await find('east'));
      await configure({ selector, namespaces: ['apps'], tokenTTL: '2h' });
      await newToken('east', before);
      const skip = { metadata: { annotations: { 'muster.dev/skip-edge-cleanup': 'true' } } };
      await hub.admin.patch(Clusters, key('north'), skip, { type: 'merge' });
      await hub.admin.delete(Clusters, key('north'));
      await gone('north');
      const [left] = (await accounts()).filter(({ metadata }) => metadata.name !== eastAccount);
      await downstream.delete(ServiceAccounts, { namespace: 'muster-argocd', name: left?.metadata.name ?? '' });
    });

    it('given settings that cannot be used, when they are configured, then everything stays as it is', async () => {
      const before = await find('east');
      await configure({ selectors: {} } as Partial<ArgoCDConfig>);
      await hub.quiet();
      expect((await find('east'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
      await configure({ selector, namespaces: ['apps'], tokenTTL: '2h' });
    });

    it('given a published Cluster, when it is deleted, then Secret and account are gone before it is', async () => {
      await relabel('west', { env: 'prod' });
      await published('west');
      tokenOf(await find('west'));
      await hub.admin.delete(Clusters, key('west'));
      await poll(async () => ((await hub.admin.find(Clusters, key('west'))) === undefined ? true : undefined), {
        what: 'the end of west',
        limitMs: 25_000,
      });
      expect(await find('west')).toBeUndefined();
      expect(await accounts()).toHaveLength(1);
    });

    it('given that it is switched off, then nothing is left on the hub or downstream, and no token was seen anywhere', async () => {
      await configure(undefined);
      await gone('east');
      await clusterThat(hub, 'east', (c) => state(c) === undefined, 'without a condition');
      await clusterThat(hub, 'behind', (c) => state(c) === undefined, 'without a condition');
      expect(await accounts()).toEqual([]);
      const left = await downstream.find(Namespaces, { name: 'muster-argocd' });
      expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
      expect(await downstream.find(Namespaces, { name: 'apps' })).toBeDefined();
      const events = await hub.admin.raw('/apis/events.k8s.io/v1/events');
      const clusters = await hub.admin.list(Clusters);
      const seen = [JSON.stringify(events), JSON.stringify(clusters), ...hub.lines].join('\n');
      expect(new Set(tokens).size).toBeGreaterThan(5);
      expect(tokens.filter((token) => seen.includes(token))).toEqual([]);
    });
  });
}
