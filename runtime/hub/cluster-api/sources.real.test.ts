/** Other kinds of sources, hubs that end in the middle, and many clusters at once, some of them broken. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toCustomResourceDefinition } from '../../../api/crd.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { ClusterGroups, ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { clusterProfileDescriptor } from '../../../api/multicluster/cluster-profile.ts';
import { ClusterProfiles } from '../../../api/multicluster/kinds.ts';
import { RegistrationRules } from '../../../api/muster/kinds.ts';
import type { RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import type { ResourceType } from '../../../api/resource.ts';
import { keyOf } from '../../../api/resource.ts';
import { poll } from '../../../test/harness/index.ts';
import { Authority } from '../../../test/harness/pki/authority.ts';
import { playAgents } from '../../../test/support/played-agents.ts';
import type { PlayedAgents } from '../../../test/support/played-agents.ts';
import {
  createNamespace,
  createRule,
  installDefinition,
  PlayedClusterAPI,
  ruleThat,
} from '../../../test/support/played-cluster-api.ts';
import { answerTo, ask, asToken, clusterThat, condition, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub } from '../../../test/support/running-hub.ts';
import type { SmallEdges } from '../../../test/support/small-edges.ts';
import { shortKubeconfig, startSmallEdges } from '../../../test/support/small-edges.ts';
import { clusterAPIDefinition } from './testdata/definitions.ts';

// the machine may be busy with other tests
vi.setConfig({ testTimeout: 180_000 });

const finalizer = 'muster.dev/registration';
let hub: RunningHub;
let edges: SmallEdges;
let agents: PlayedAgents;
let capi: PlayedClusterAPI;

beforeAll(async () => {
  hub = await startRunningHub('rule-sources');
  const { cert, key } = hub.plane.issueServerCertificate('edges', ['127.0.0.1']);
  edges = await startSmallEdges({ cert, key, ca: hub.plane.ca });
  agents = playAgents(edges);
  await createNamespace(hub.admin, 'sources', { 'muster.dev/source': 'true' });
  // as of Cluster API before 1.11; the newer version comes later
  await installDefinition(hub.admin, clusterAPIDefinition('v1beta1'));
  capi = new PlayedClusterAPI(hub.admin, 'sources', 'v1beta1');
});
afterAll(async () => {
  await edges?.close();
  await hub?.close();
});

const rule = (name: string, spec: Partial<RegistrationRuleSpec> = {}) =>
  createRule(hub.admin, name, {
    selector: { matchLabels: { of: name } },
    ...spec,
    registration: { workspace, ...spec.registration },
  });
const find = (name: string): Promise<Cluster | undefined> => hub.admin.find(Clusters, { namespace: workspace, name });
const registered = (name: string) =>
  clusterThat(hub, name, (c) => condition(c, 'Registered')?.status === 'True', 'Registered', 60_000);
const endOf = (name: string) =>
  poll(async () => ((await find(name)) === undefined ? true : undefined), {
    what: `the end of ${name}`,
    limitMs: 60_000,
  });

async function secret(name: string, of: string, data: Record<string, string>, annotations = {}): Promise<void> {
  const metadata = { name, namespace: 'sources', labels: { of }, annotations };
  await hub.admin.apply(
    Secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: data },
    { fieldManager: 'test' },
  );
}

describe('a Secret with a kubeconfig', () => {
  it('given one in a namespace of sources, when a rule selects it, then it is registered, and held until detached', async () => {
    await rule('secrets', {
      source: { kubeconfigSecret: { key: 'config' } },
      registration: { workspace, annotations: { pass: ['*'] } },
    });
    const leak = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":"secret"}', team: 'a' };
    await secret('k3s', 'secrets', { config: edges.kubeconfig('k3s'), value: 'not this one' }, leak);
    const cluster = await registered('k3s');
    expect(cluster.metadata.annotations).toMatchObject({ team: 'a', 'muster.dev/kubeconfig': 'sources/k3s/config' });
    expect(JSON.stringify(cluster)).not.toContain('last-applied');
    const held = await hub.admin.get(Secrets, { namespace: 'sources', name: 'k3s' });
    expect(held.metadata.finalizers).toEqual([finalizer]);
    await hub.admin.delete(Secrets, { namespace: 'sources', name: 'k3s' });
    const gone = async () =>
      (await hub.admin.find(Secrets, { namespace: 'sources', name: 'k3s' })) ? undefined : true;
    await poll(gone, { what: 'the Secret to go', limitMs: 60_000 });
    expect([...edges.edge('k3s').objects.keys()].filter((path) => path.includes('cattle'))).toEqual([]);
    await poll(async () => ((await find('k3s')) === undefined ? true : undefined), { what: 'its Cluster to go' });
  });
});

describe('an agent that registers itself', () => {
  it('given mode Agent, when the source is ready, then a token for one use waits for it, and goes with its use', async () => {
    await rule('selves', { registration: { workspace, mode: 'Agent', token: { ttl: '1h' } } });
    await capi.create('edge-7', { labels: { of: 'selves' } });
    await capi.ready('edge-7');
    const declared = await clusterThat(hub, 'edge-7', () => true, 'declared');
    expect(declared.spec?.kubeConfigSecret).toBeUndefined();
    const reference = declared.metadata.annotations?.['muster.dev/bootstrap-secret'] ?? '';
    expect(reference).toBe(`${workspace}/agent-token-edge-7`);
    const token = await asToken(hub, 'agent-token-edge-7');
    const clientID = declared.spec?.clientID ?? '';
    expect(clientID).toMatch(/^[a-z0-9]{54}$/);
    const answer = await answerTo(token, await ask(token, { clientID, token: 'agent-token-edge-7' }));
    expect(answer['clusterName']).toBe('edge-7');
    const agent = hub.asBearer(answer['token'] ?? '');
    await agent.patch(
      Clusters,
      { namespace: workspace, name: 'edge-7' },
      { status: { agent: { lastSeen: new Date().toISOString().replace(/\.\d+/, ''), namespace: 'x' } } },
      { type: 'merge', subresource: 'status' },
    );
    const key = { namespace: workspace, name: 'agent-token-edge-7' };
    const used = async () => ((await hub.admin.find(ClusterRegistrationTokens, key)) ? undefined : true);
    await poll(used, { what: 'the used token to go', limitMs: 60_000 });
    await hub.quiet();
    expect(await hub.admin.find(ClusterRegistrationTokens, key)).toBeUndefined();
    await ruleThat(hub.admin, 'selves', (r) => r.status?.registered === 1, 'registered');
  });
});

describe('a hub that is away', () => {
  it('given sources that come, change and go meanwhile, when it is back, then all is as it should be', async () => {
    await rule('away');
    await rule('forgotten');
    for (const name of ['stays', 'goes'])
      await capi.provision(name, edges.kubeconfig(name), { labels: { of: 'away' } });
    await capi.provision('orphan', edges.kubeconfig('orphan'), { labels: { of: 'forgotten' } });
    await Promise.all(['stays', 'goes', 'orphan'].map(registered));
    await hub.stop();
    await capi.provision('comes', edges.kubeconfig('comes'), { labels: { of: 'away' } });
    await capi.delete('goes');
    await hub.admin.delete(RegistrationRules, { name: 'forgotten' });
    await hub.admin.delete(Clusters, { namespace: workspace, name: 'stays' });
    await hub.start();
    await Promise.all([registered('comes'), endOf('goes'), endOf('orphan')]);
    await clusterThat(hub, 'stays', (c) => c.metadata.deletionTimestamp === undefined, 'registered anew', 60_000);
    for (const name of ['goes', 'orphan']) {
      const free = async () => ((await capi.find(name))?.metadata.finalizers?.includes(finalizer) ? undefined : true);
      await poll(free, { what: `${name} let go` });
    }
    await ruleThat(hub.admin, 'away', (r) => r.status?.matched === 2 && r.status.registered === 2, 'counted');
  });

  it('given rules that are done, when the hub starts again, then it writes nothing', async () => {
    // not by counting: an answer whose agent has it goes a minute later, which may be now
    const types = [RegistrationRules, Clusters, ClusterGroups, ClusterRegistrations, ClusterRegistrationTokens];
    const versions = async () => {
      const lists = await Promise.all(
        [...types, Namespaces, Secrets].map((type: ResourceType) => hub.admin.list(type)),
      );
      const objects = lists.flatMap(({ items }) => items);
      const lasting = objects.filter(({ metadata }) => metadata.namespace !== registrationNamespace);
      return lasting.map((object) => `${object.kind} ${keyOf(object)} ${object.metadata.resourceVersion ?? ''}`);
    };
    await hub.quiet();
    await hub.stop();
    const before = await versions();
    await hub.start();
    await hub.quiet();
    expect(await versions()).toEqual(before);
  });
});

describe('many clusters of Cluster API', () => {
  const names = Array.from({ length: 24 }, (_, index) => `burst-${index}`);

  it('given that they come and go in one go, when the hub ends in the middle of both, then all are registered, then nothing is left', async () => {
    await installDefinition(hub.admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
    const newer = new PlayedClusterAPI(hub.admin, 'sources', 'v1beta2');
    await rule('burst', { registration: { workspace, groups: { by: 'Topology' } } });
    await Promise.all(
      names.map((name) => newer.provision(name, edges.kubeconfig(name), { labels: { of: 'burst' }, className: 'aws' })),
    );
    const reported = () => names.filter((name) => agents.reported.has(name)).length;
    await poll(() => (reported() > 5 ? true : undefined), { what: 'the first agents' });
    await hub.stop();
    await hub.start();
    await poll(() => (reported() === names.length ? true : undefined), { what: 'all agents', limitMs: 120_000 });
    const done = await ruleThat(
      hub.admin,
      'burst',
      (r) => r.status?.conditions?.[0]?.status === 'True',
      'Ready',
      60_000,
    );
    expect(done.status).toMatchObject({ matched: 24, registered: 24, failed: 0 });
    expect(agents.failures).toEqual([]);
    const group = await hub.admin.get(ClusterGroups, { namespace: workspace, name: 'aws.sources-v1.34.1' });
    expect(group.metadata.labels?.['muster.dev/cluster-group']).toBe('aws.sources-v1.34.1');

    await Promise.all(names.map((name) => newer.delete(name)));
    const left = async () =>
      (await hub.admin.list(newer.type, { namespace: 'sources', labelSelector: 'of=burst' })).items;
    await poll(async () => ((await left()).length < 24 || (await freed(left)) > 0 ? true : undefined), {
      what: 'the first to be let go',
      limitMs: 60_000,
    });
    await hub.stop();
    await hub.start();
    await poll(
      async () => {
        const all = await left();
        const free = all.filter(({ metadata }) => !metadata.finalizers?.includes(finalizer));
        await Promise.all(free.map(({ metadata }) => newer.tearDown(metadata.name ?? '')));
        return all.length === 0 ? true : undefined;
      },
      { what: 'all to be gone', limitMs: 120_000 },
    );
    await nothingLeft();
  });

  async function freed(left: () => Promise<{ metadata: { finalizers?: string[] } }[]>): Promise<number> {
    return (await left()).filter(({ metadata }) => !metadata.finalizers?.includes(finalizer)).length;
  }

  async function nothingLeft(): Promise<void> {
    const of = (text: string | undefined) => text?.includes('burst-') ?? false;
    const lists = [
      Clusters,
      ClusterRegistrations,
      ClusterRegistrationTokens,
      ClusterGroups,
      Secrets,
      Namespaces,
    ] as const;
    const remaining = async (): Promise<string[]> => {
      const found = await Promise.all(lists.map(async (type) => (await hub.admin.list<never>(type as never)).items));
      return found
        .flat()
        .map((object) => object as Cluster)
        .filter(({ metadata }) => of(metadata.name) || of(metadata.annotations?.['fleet.cattle.io/cluster']))
        .map(({ metadata }) => metadata.name ?? '');
    };
    await poll(async () => ((await remaining()).length === 0 ? true : undefined), {
      what: 'nothing to be left',
      limitMs: 60_000,
    });
    for (const name of names) {
      expect([...edges.edge(name).objects.keys()].filter((path) => path.includes('fleet'))).toEqual([]);
    }
    expect(await hub.admin.find(ClusterGroups, { namespace: workspace, name: 'aws.sources-v1.34.1' })).toBeUndefined();
  }

  it('given more broken ones than the hub has workers, when good ones come after them, then those are registered first', async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const hangs = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const foreignCA = Authority.create('foreign').cert;
    await rule('broken');
    const labels = { of: 'broken' };
    const kinds: [string, string][] = [
      ['hang', shortKubeconfig(hangs, hub.plane.ca)],
      ['refuse', shortKubeconfig('https://127.0.0.1:1', hub.plane.ca)],
      ['mistrust', edges.kubeconfig('mistrust', 'x', foreignCA)],
    ];
    const bad = kinds.flatMap(([kind, text]) =>
      Array.from({ length: kind === 'hang' ? 40 : 3 }, (_, n) => [`${kind}-${n}`, text] as const),
    );
    await Promise.all(bad.map(([name, text]) => capi.provision(name, text, { labels })));
    await Promise.all(Array.from({ length: 5 }, (_, n) => capi.create(`never-${n}`, { labels })));
    await poll(() => (sockets.size >= 40 ? true : undefined), { what: 'all that hang to be tried', limitMs: 60_000 });
    const good = Array.from({ length: 5 }, (_, n) => `good-${n}`);
    await Promise.all(good.map((name) => capi.provision(name, edges.kubeconfig(name), { labels })));
    await Promise.all(good.map(registered));
    // one connection each, perhaps a second: a retry is bounded by its pause, not by how often the hub has time
    expect(sockets.size).toBeLessThanOrEqual(40 * 4);
    const told = await ruleThat(
      hub.admin,
      'broken',
      ({ status }) => status?.matched === 56 && status.registered === 5 && (status.failed ?? 0) === 46,
      'counted',
      60_000,
    );
    expect(told.status?.conditions?.[0]?.message).toMatch(
      /^5 of 56 registered; 40 failed \(Cluster\/sources\/hang-0, .* and 37 more\)/,
    );
    await capi.kubeconfig('mistrust-0', edges.kubeconfig('mistrust-0'));
    await registered('mistrust-0');
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe('a ClusterProfile of another cluster manager', () => {
  const profile = (name: string, of: string, accessProviders: object[], manager = 'other') => ({
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ClusterProfile',
    metadata: { name, namespace: 'sources', labels: { of } },
    spec: { clusterManager: { name: manager } },
    status: { accessProviders },
  });
  const exec = (extension: object) => [{ name: 'client.authentication.k8s.io/exec', extension }];

  async function publish(name: string, of: string, providers: object[], manager?: string): Promise<void> {
    const object = profile(name, of, providers, manager) as never;
    await hub.admin.create(ClusterProfiles, object);
    const status = { accessProviders: providers };
    await hub.admin.patch(
      ClusterProfiles,
      { namespace: 'sources', name },
      { status },
      { type: 'merge', subresource: 'status' },
    );
  }

  it('given ways in by a Secret, by a token, and by a program, when a rule selects them, then the first two are registered', async () => {
    await installDefinition(hub.admin, toCustomResourceDefinition(clusterProfileDescriptor));
    await rule('profiles', { source: { clusterProfile: {} } });
    await secret('spoke-kubeconfig', 'none', { value: edges.kubeconfig('spoke-1') });
    await secret('spoke-2', 'none', { token: 'edge-admin' });
    edges.edge('spoke-2').accepts = 'edge-admin';
    const ca = Buffer.from(hub.plane.ca).toString('base64');
    const endpoint = (name: string) => ({ server: edges.edge(name).server, 'certificate-authority-data': ca });
    const inSecret = { name: 'spoke-kubeconfig', key: 'value', context: 'a' };
    await publish('spoke-1', 'profiles', [
      { name: 'kubeconfig-secretreader', cluster: { server: 'https://x.example', extensions: exec(inSecret) } },
    ]);
    await publish('spoke-2', 'profiles', [
      { name: 'secretreader', cluster: { ...endpoint('spoke-2'), extensions: exec({ clusterName: 'spoke-2' }) } },
    ]);
    await publish('spoke-3', 'profiles', [{ name: 'cloud', cluster: endpoint('spoke-3') }]);
    await publish('ours', 'profiles', [{ name: 'secretreader', cluster: endpoint('ours') }], 'muster');
    await Promise.all(['spoke-1', 'spoke-2'].map(registered));
    const told = await ruleThat(
      hub.admin,
      'profiles',
      ({ status }) => status?.registered === 2 && status.failed === 1,
      'counted',
    );
    expect(told.status?.matched).toBe(3);
    expect(told.status?.conditions?.[0]).toMatchObject({ reason: 'AccessProviderRefused' });
    expect(await find('ours')).toBeUndefined();
    await hub.admin.delete(ClusterProfiles, { namespace: 'sources', name: 'spoke-2' });
    await endOf('spoke-2');
    const gone = async () =>
      (await hub.admin.find(ClusterProfiles, { namespace: 'sources', name: 'spoke-2' })) ? undefined : true;
    await poll(gone, { what: 'the profile to go' });
  });
});
