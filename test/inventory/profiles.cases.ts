/** ClusterProfiles on real control planes; run by inventory.real.test.ts. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import type { ClusterProfile } from '../../api/multicluster/kinds.ts';
import { ClusterProfiles, clusterProfileDefinition } from '../../api/multicluster/kinds.ts';
import { synthCrds } from '../../components/fleet/index.ts';
import { poll } from '../harness/index.ts';
import { applyAll } from '../support/hub-plane.ts';
import type { InventoryWorld } from './world.ts';
import { register } from './world.ts';
import { cluster, clusterThat, condition, workspace } from '../support/registering.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { createClient } from '../../runtime/kube/create-client.ts';
import { parseKubeconfig } from '../../runtime/kube/kubeconfig.ts';

let world: InventoryWorld;
let hub: RunningHub;

const key = (name: string) => ({ namespace: workspace, name });
const find = (name: string) => hub.admin.find(ClusterProfiles, key(name));
const relabel = (name: string, labels: Record<string, string | null>) =>
  hub.admin.patch(Clusters, key(name), { metadata: { labels } }, { type: 'merge' });

async function profileThat(name: string, look: (profile: ClusterProfile) => boolean, what: string) {
  return await poll(
    async () => {
      const found = await find(name);
      return found !== undefined && look(found) ? found : undefined;
    },
    { what: `ClusterProfile ${name}: ${what}` },
  );
}
const noProfile = (name: string) =>
  poll(async () => ((await find(name)) === undefined ? true : undefined), { what: `no ClusterProfile ${name}` });
const is = (profile: ClusterProfile, type: string) =>
  profile.status?.conditions?.find((each) => each.type === type)?.status;

export function describeProfiles(start: () => InventoryWorld): void {
  describe('ClusterProfiles', { timeout: 60_000 }, () => {
    beforeAll(() => {
      world = start();
      ({ hub } = world);
    });

    it('given that the kind is not installed, when it is, then registered Clusters are published with what is known of them', async () => {
      await hub.quiet();
      expect(hub.lines.filter((line) => line.includes('clusterprofiles'))).toEqual([]);
      await applyAll(
        hub.admin,
        synthCrds({ clusterProfiles: true }).filter(({ metadata }) => metadata.name === clusterProfileDefinition),
      );
      const profile = await profileThat('east', (p) => is(p, 'ControlPlaneHealthy') === 'True', 'healthy');
      const { gitVersion } = (await world.downstream.raw('/version')) as { gitVersion: string };
      expect(profile.status?.version?.kubernetes).toBe(gitVersion);
      expect(profile.status?.properties).toContainEqual({ name: 'muster.dev/nodes', value: '0' });
      expect(is(profile, 'Joined')).toBe('True');
      expect(profile.spec).toEqual({ displayName: 'east', clusterManager: { name: 'muster' } });
      expect(profile.metadata.labels).toMatchObject({ env: 'prod', 'x-k8s.io/cluster-manager': 'muster' });
      const { uid } = (await hub.admin.get(Clusters, key('east'))).metadata;
      expect(profile.metadata.ownerReferences?.map((owner) => owner.uid)).toEqual([uid]);
    });

    it('given the access provider of a profile, when its Secret is read as the plugin does, then it opens the cluster', async () => {
      const profile = await profileThat('east', () => true, 'there');
      const [provider] = profile.status?.accessProviders ?? [];
      expect(provider?.name).toBe('kubeconfig-secretreader');
      const [extension] = provider?.cluster?.extensions ?? [];
      expect(extension?.name).toBe('client.authentication.k8s.io/exec');
      const place = extension?.extension as { name: string; namespace: string; key: string };
      const secret = await hub.admin.get(Secrets, { namespace: place.namespace, name: place.name });
      const config = parseKubeconfig(Buffer.from(secret.data?.[place.key] ?? '', 'base64'), { policy: 'user' });
      const { server = '', 'certificate-authority-data': ca = '' } = provider?.cluster ?? {};
      const client = createClient({ ...config, server, ca: Buffer.from(ca, 'base64').toString() });
      expect((await client.get(Namespaces, { name: 'kube-system' })).metadata.uid).toBeTruthy();
      await client.close();
      const text = JSON.stringify(profile);
      for (const part of [config.token, config.key, config.cert]) {
        if (part !== undefined)
          expect(text.includes(Buffer.from(part).toString('base64')) || text.includes(part)).toBe(false);
      }
    });

    it('given heartbeats and a new hub, when nothing else changes, then nothing is written', async () => {
      await hub.quiet();
      const [writes, before] = [await hub.writes(), await find('east')];
      const { lastSeen } = (await hub.admin.get(Clusters, key('east'))).status?.agent ?? {};
      await clusterThat(hub, 'east', (c) => c.status?.agent?.lastSeen !== lastSeen, 'another heartbeat');
      await hub.stop();
      await hub.start();
      await hub.quiet();
      expect(await hub.writes()).toBe(writes);
      expect((await find('east'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    });

    it('given a published Cluster, when its labels or its workspace change, then the profile follows; what others wrote stays', async () => {
      await hub.admin.patch(ClusterProfiles, key('east'), { metadata: { labels: { theirs: 'x' } } }, { type: 'merge' });
      await relabel('east', { env: 'test', tier: 'edge' });
      await profileThat('east', (p) => p.metadata.labels?.['tier'] === 'edge', 'relabelled');
      await relabel('east', { tier: null });
      const labels = (await profileThat('east', (p) => p.metadata.labels?.['tier'] === undefined, 'without')).metadata
        .labels;
      expect(labels).toMatchObject({ env: 'test', theirs: 'x' });
      const set = { metadata: { labels: { 'multicluster.x-k8s.io/clusterset': 'stores' } } };
      await hub.admin.patch(Namespaces, { name: workspace }, set, { type: 'merge' });
      const named = { name: 'clusterset.k8s.io', value: 'stores' };
      await profileThat(
        'east',
        (p) => JSON.stringify(p.status?.properties).includes(JSON.stringify(named)),
        'in its set',
      );
    });

    it('given a Secret with a token under the name of the Cluster, when it comes and goes, then the plugin that reads it does, too', async () => {
      const names = (p: ClusterProfile) => p.status?.accessProviders?.map(({ name }) => name).join();
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key('east'), stringData: { token: 'for-plugins' } };
      await hub.admin.create(Secrets, secret);
      const profile = await profileThat(
        'east',
        (p) => names(p) === 'kubeconfig-secretreader,secretreader',
        'with both',
      );
      expect(JSON.stringify(profile)).not.toContain('for-plugins');
      await hub.admin.delete(Secrets, key('east'));
      await profileThat('east', (p) => names(p) === 'kubeconfig-secretreader', 'with one');
    });

    it('given a profile that somebody deletes, when noticed, then it is there again', async () => {
      const { uid } = (await find('east'))?.metadata ?? {};
      await hub.admin.delete(ClusterProfiles, key('east'));
      await profileThat('east', (p) => p.metadata.uid !== uid && p.status?.version !== undefined, 'made again');
    });

    it('given a profile of another manager under the same name, then it stays, the Cluster says so, and goes on when it is gone', async () => {
      const foreign: ClusterProfile = {
        apiVersion: 'multicluster.x-k8s.io/v1alpha1',
        kind: 'ClusterProfile',
        metadata: { name: 'taken', namespace: workspace },
        spec: { clusterManager: { name: 'another' } },
      };
      const { metadata } = await hub.admin.create(ClusterProfiles, foreign);
      await register(world, 'taken');
      const told = await clusterThat(
        hub,
        'taken',
        (c) => condition(c, 'ClusterProfilePublished') !== undefined,
        'told',
      );
      expect(condition(told, 'ClusterProfilePublished')).toMatchObject({ status: 'False', reason: 'NameTaken' });
      expect((await find('taken'))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
      await hub.admin.delete(ClusterProfiles, key('taken'));
      await profileThat('taken', (p) => p.spec.clusterManager.name === 'muster', 'published');
      await clusterThat(hub, 'taken', (c) => condition(c, 'ClusterProfilePublished') === undefined, 'no complaint');
    });

    it('given a Cluster that is not registered, then it is not published; given one that goes, then its profile goes', async () => {
      await hub.admin.create(Clusters, cluster('waiting', { clientID: 'waiting' }));
      await hub.admin.delete(Clusters, key('taken'));
      await noProfile('taken');
      await hub.quiet();
      expect(await find('waiting')).toBeUndefined();
    });

    it('given that it is switched off and on again, then the profiles of the hub go and come, and those of others stay', async () => {
      const theirs = { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ClusterProfile' };
      const metadata = { name: 'theirs', namespace: workspace };
      await hub.admin.create(ClusterProfiles, { ...theirs, metadata, spec: { clusterManager: { name: 'another' } } });
      await hub.configure({ inventory: { clusterProfiles: false } });
      await noProfile('east');
      expect(await find('theirs')).toBeDefined();
      await hub.configure({});
      await profileThat('east', (p) => p.status?.version !== undefined, 'published again');
    });
  });
}
