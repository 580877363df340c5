/** Rules at work on a real control plane, under the hub's own ServiceAccount; Cluster API's controllers are played. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ClusterGroups, Clusters } from '../../../api/fleet/kinds.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { RegistrationRules } from '../../../api/muster/kinds.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import type { RoleBinding } from '../../../api/kubernetes/rbac.ts';
import { RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import type { RegistrationRule, RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import { poll } from '../../../test/harness/index.ts';
import {
  createNamespace,
  createRule,
  installDefinition,
  PlayedClusterAPI,
  ruleThat,
} from '../../../test/support/played-cluster-api.ts';
import { cluster, clusterThat, condition, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub } from '../../../test/support/running-hub.ts';
import type { SmallEdges } from '../../../test/support/small-edges.ts';
import { shortKubeconfig, startSmallEdges } from '../../../test/support/small-edges.ts';
import { clusterAPIDefinition } from './testdata/definitions.ts';

// the machine may be busy with other tests
vi.setConfig({ testTimeout: 180_000, maxConcurrency: 6 });

let hub: RunningHub;
let edges: SmallEdges;
let capi: PlayedClusterAPI;
const finalizer = 'muster.dev/registration';

beforeAll(async () => {
  hub = await startRunningHub('rules');
  const { cert, key } = hub.plane.issueServerCertificate('edges', ['127.0.0.1']);
  edges = await startSmallEdges({ cert, key, ca: hub.plane.ca });
  await createNamespace(hub.admin, 'capi', { 'muster.dev/source': 'true', team: 'platform' });
  capi = new PlayedClusterAPI(hub.admin, 'capi');
});
afterAll(async () => {
  await edges?.close();
  await hub?.close();
});

/** Tests run side by side, so each rule is for the sources of one of them. */
const rule = (name: string, spec: Partial<RegistrationRuleSpec> = {}, sources = name) =>
  createRule(hub.admin, name, {
    selector: { matchLabels: { of: sources } },
    ...spec,
    registration: { workspace, ...spec.registration },
  });
const removeRule = (name: string) => hub.admin.delete(RegistrationRules, { name });
const find = (name: string): Promise<Cluster | undefined> => hub.admin.find(Clusters, { namespace: workspace, name });
const clusterOf = (name: string, look: (cluster: Cluster) => boolean, what: string) =>
  clusterThat(hub, name, look, what, 60_000);
const imported = (name: string) => clusterOf(name, (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
const endOf = (name: string, limitMs = 60_000) =>
  poll(async () => ((await find(name)) === undefined ? true : undefined), {
    what: `the end of Cluster ${name}`,
    limitMs,
  });
const deploymentPath = '/apis/apps/v1/namespaces/cattle-fleet-system/deployments/fleet-agent';
const hasAgent = (edge: string) => edges.edge(edge).objects.has(deploymentPath);
const finalizersOf = async (name: string) => (await capi.find(name))?.metadata.finalizers ?? [];
const ready = (name: string) => ruleThat(hub.admin, name, (r) => r.status?.conditions?.[0]?.status === 'True', 'Ready');

/** A cluster that comes, and is ready; `of` is the rule that it is for. */
const provision = (name: string, of: string, labels: Record<string, string> = {}) =>
  capi.provision(name, edges.kubeconfig(name), { labels: { of, ...labels } });

/** What Cluster API does when its Cluster is deleted, once the hub has let go of it. */
async function remove(name: string): Promise<void> {
  await capi.delete(name);
  await poll(async () => ((await finalizersOf(name)).includes(finalizer) ? undefined : true), {
    what: `${name} let go`,
  });
  await capi.tearDown(name);
  await capi.gone(name);
}

async function events(kind: string, name: string): Promise<string[]> {
  const list = (await hub.admin.raw(
    `/apis/events.k8s.io/v1/events?fieldSelector=regarding.name=${name},regarding.kind=${kind}`,
  )) as { items: { reason: string; regarding: { apiVersion: string } }[] };
  return list.items
    .filter(({ regarding }) => regarding.apiVersion.startsWith('cluster.x-k8s.io'))
    .map(({ reason }) => reason);
}

describe('Cluster API that comes late', () => {
  it('given a rule before the kind is installed, when it is, then the rule says so first and begins by itself', async () => {
    await rule('early');
    await ruleThat(hub.admin, 'early', (r) => r.status?.conditions?.[0]?.reason === 'SourceKindMissing', 'missing');
    await installDefinition(hub.admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
    const done = await ready('early');
    expect(done.status).toMatchObject({ matched: 0, registered: 0, failed: 0, observedGeneration: 1 });
    await removeRule('early');
  });
});

describe('a cluster of Cluster API', () => {
  it('given a rule, when it is ready, then it is registered with what the rule passes, and goes with its source', async () => {
    await rule('all', {
      registration: {
        workspace,
        name: '{namespace}-{name}',
        labels: { pass: ['env', 'topology.*'], set: { class: '{class}' } },
        annotations: { pass: ['owner'] },
        agent: { namespace: 'agents' },
        groups: { by: 'Class' },
      },
    });
    await capi.create('east', {
      labels: { of: 'all', env: 'prod', 'topology.cluster.x-k8s.io/owned': 'yes', other: 'no' },
      annotations: { owner: 'platform' },
      className: 'aws',
    });
    await capi.kubeconfig('east', edges.kubeconfig('east'));
    await ruleThat(hub.admin, 'all', (r) => r.status?.matched === 1, 'matched');
    expect(await find('capi-east')).toBeUndefined();
    expect(await finalizersOf('east')).not.toContain(finalizer);
    expect(await events('Cluster', 'east')).toEqual(['WaitingForControlPlane']);

    await capi.ready('east');
    const cluster = await imported('capi-east');
    expect(await finalizersOf('east')).toContain(finalizer);
    expect(cluster.metadata.labels).toMatchObject({
      env: 'prod',
      'topology.cluster.x-k8s.io/owned': 'yes',
      class: 'aws',
      'muster.dev/cluster-group': 'aws.capi',
    });
    expect(cluster.metadata.labels).not.toHaveProperty('other');
    expect(cluster.metadata.annotations).toMatchObject({
      owner: 'platform',
      'muster.dev/rule': 'all',
      'muster.dev/source': 'Cluster/capi/east',
      'muster.dev/source-uid': (await capi.find('east'))?.metadata.uid,
    });
    expect(cluster.spec).toMatchObject({
      kubeConfigSecret: 'east-kubeconfig',
      kubeConfigSecretNamespace: 'capi',
      agentNamespace: 'agents',
    });
    expect(edges.edge('east').objects.has('/apis/apps/v1/namespaces/agents/deployments/fleet-agent')).toBe(true);
    const group = await hub.admin.get(ClusterGroups, { namespace: workspace, name: 'aws.capi' });
    expect(group.spec?.selector?.matchLabels).toEqual({ 'muster.dev/cluster-group': 'aws.capi' });

    await hub.quiet();
    const before = await hub.writes();
    await capi.patch(
      'east',
      { status: { phase: 'Provisioned', conditions: [{ type: 'Other', status: 'True' }] } },
      'status',
    );
    await hub.quiet();
    expect(await hub.writes()).toBe(before);

    await remove('east');
    expect(edges.edge('east').objects.has('/apis/apps/v1/namespaces/agents/deployments/fleet-agent')).toBe(false);
    // the source need not wait for what is left on the hub
    await poll(async () => ((await find('capi-east')) === undefined ? true : undefined), { what: 'its Cluster to go' });
    await poll(
      async () =>
        (await hub.admin.find(ClusterGroups, { namespace: workspace, name: 'aws.capi' })) ? undefined : true,
      { what: 'the end of the group' },
    );
    await removeRule('all');
  });
});

describe.concurrent('a registered cluster', () => {
  const settings = (hostNetwork: boolean) => ({ registration: { workspace, agent: { hostNetwork } } });
  const isHostNetwork = (edge: string): boolean => {
    const deployment = edges.edge(edge).objects.get(deploymentPath) as
      { spec: { template: { spec: { hostNetwork?: boolean } } } } | undefined;
    return deployment?.spec.template.spec.hostNetwork === true;
  };

  it('given a kubeconfig that rotates, when its old credential ends, then what follows uses the new one', async () => {
    await rule('rotating');
    await provision('rotated', 'rotating');
    await imported('rotated');
    edges.edge('rotated').accepts = 'second';
    await capi.kubeconfig('rotated', edges.kubeconfig('rotated', 'second'));
    await hub.admin.patch(RegistrationRules, { name: 'rotating' }, { spec: settings(true) }, { type: 'merge' });
    await poll(() => (isHostNetwork('rotated') ? true : undefined), { what: 'the new settings downstream' });
    expect((await find('rotated'))?.spec?.hostNetwork).toBe(true);
    edges.edge('rotated').accepts = 'third';
    await capi.kubeconfig('rotated', edges.kubeconfig('rotated', 'third'));
    await remove('rotated');
    expect(hasAgent('rotated')).toBe(false);
  });

  it('given a source that is paused, when its rule changes, then nothing changes until it is resumed', async () => {
    await rule('pausing');
    await provision('napping', 'pausing');
    await imported('napping');
    await capi.patch('napping', { spec: { paused: true } });
    await clusterOf('napping', (c) => c.spec?.paused === true, 'paused');
    await hub.admin.patch(RegistrationRules, { name: 'pausing' }, { spec: settings(true) }, { type: 'merge' });
    await ruleThat(hub.admin, 'pausing', (r) => r.status?.observedGeneration === 2, 'looked at');
    expect((await find('napping'))?.spec?.hostNetwork).toBeUndefined();
    await capi.patch('napping', { spec: { paused: false } });
    const resumed = await clusterOf('napping', (c) => c.spec?.hostNetwork === true && !c.spec.paused, 'resumed');
    expect(resumed.metadata.annotations).not.toHaveProperty('muster.dev/source-paused');
  });

  it('given labels that others set, when those of the source change, then only what the rule set changes', async () => {
    await rule('labels', { registration: { workspace, labels: { pass: ['env', 'zone'] } } });
    await provision('marked', 'labels', { env: 'test', zone: 'a' });
    await imported('marked');
    await hub.admin.patch(
      Clusters,
      { namespace: workspace, name: 'marked' },
      { metadata: { labels: { mine: 'yes', env: 'wrong' } } },
      { type: 'merge' },
    );
    await capi.patch('marked', { metadata: { labels: { zone: null } } });
    const look = (c: Cluster) => c.metadata.labels?.['env'] === 'test' && !('zone' in c.metadata.labels);
    const changed = await clusterOf('marked', look, 'the labels of its source');
    expect(changed.metadata.labels).toMatchObject({ mine: 'yes' });
  });

  it('given a user who deletes it, when its source stands, then it is registered anew', async () => {
    await rule('lasting');
    await provision('stubborn', 'lasting');
    const first = await imported('stubborn');
    await hub.admin.delete(Clusters, { namespace: workspace, name: 'stubborn' });
    await clusterThat(
      hub,
      'stubborn',
      (c) => c.metadata.uid !== first.metadata.uid && condition(c, 'Imported')?.status === 'True',
      'anew',
    );
  });
});

describe.concurrent('an edge that cannot be reached any more', () => {
  it('given a source that is deleted, when the time of the rule is up, then it is let go, and told why', async () => {
    await rule('bounded', { onSourceDeleted: { timeout: '2s' } });
    await provision('lost', 'bounded');
    await imported('lost');
    await capi.kubeconfig('lost', shortKubeconfig('https://127.0.0.1:1', hub.plane.ca));
    await capi.delete('lost');
    await poll(async () => ((await finalizersOf('lost')).includes(finalizer) ? undefined : true), {
      what: 'lost let go',
    });
    expect((await find('lost'))?.metadata.deletionTimestamp).toBeDefined();
    await poll(async () => ((await events('Cluster', 'lost')).includes('DetachOverdue') ? true : undefined), {
      what: 'the event',
    });
    await capi.tearDown('lost');
    await capi.gone('lost');
    await endOf('lost');
  });

  it('given a delay, when the source is deleted, then it is let go at once and its registration stays for that long', async () => {
    await rule('patient', { onSourceDeleted: { delay: '3s' } });
    await provision('late', 'patient');
    await imported('late');
    await remove('late');
    const lost = await find('late');
    expect(lost?.metadata.annotations).toHaveProperty('muster.dev/source-lost');
    expect(lost?.metadata.deletionTimestamp).toBeUndefined();
    await endOf('late');
  });
});

describe.concurrent('rules that change', () => {
  it('given two rules for one source, when the one that wins goes, then the other takes over in place', async () => {
    await rule('low', { registration: { workspace, labels: { set: { by: 'low' } } } }, 'shared');
    await rule('high', { priority: 10, registration: { workspace, labels: { set: { by: 'high' } } } }, 'shared');
    await provision('shared', 'shared');
    const first = await imported('shared');
    expect(first.metadata.labels?.['by']).toBe('high');
    const overlaps = (name: string, word: string) =>
      ruleThat(
        hub.admin,
        name,
        (r) =>
          r.status?.conditions?.some(({ type, message }) => type === 'Overlapping' && message?.includes(word)) ?? false,
        'overlaps',
      );
    await overlaps('high', 'goes before rule low for 1');
    await overlaps('low', 'gives way to rule high for 1');
    await removeRule('high');
    const second = await clusterOf('shared', (c) => c.metadata.labels?.['by'] === 'low', 'taken over');
    expect(second.metadata.uid).toBe(first.metadata.uid);
    expect(second.metadata.annotations?.['muster.dev/rule']).toBe('low');
    await ruleThat(hub.admin, 'low', (r) => r.status?.conditions?.length === 1 && r.status.matched === 1, 'alone');
    await removeRule('low');
    await endOf('shared');
    expect(await finalizersOf('shared')).not.toContain(finalizer);
    expect(hasAgent('shared')).toBe(false);
  });

  it('given another name in the template, when it changes, then the old registration ends before the new one begins', async () => {
    await rule('naming');
    await provision('moving', 'naming');
    await imported('moving');
    const spec = { registration: { workspace, name: 'moved-{name}' } };
    await hub.admin.patch(RegistrationRules, { name: 'naming' }, { spec }, { type: 'merge' });
    await imported('moved-moving');
    expect(await find('moving')).toBeUndefined();
    expect(hasAgent('moving')).toBe(true);
  });

  it('given a rule that keeps, when it is removed, then the registration is its users’ and the source is free', async () => {
    await rule('keeping', { onSourceDeleted: { action: 'Keep' } });
    await provision('kept', 'keeping');
    await imported('kept');
    await removeRule('keeping');
    const kept = await clusterThat(
      hub,
      'kept',
      (c) => !('muster.dev/source' in (c.metadata.annotations ?? {})),
      'kept',
    );
    // where its kubeconfig is stays known, so that it can be followed and removed cleanly
    expect(Object.keys(kept.metadata.annotations ?? {}).filter((key) => key.startsWith('muster.dev/'))).toEqual([
      'muster.dev/kubeconfig',
    ]);
    expect(hasAgent('kept')).toBe(true);
    await poll(async () => ((await finalizersOf('kept')).includes(finalizer) ? undefined : true), {
      what: 'kept let go',
    });
    await hub.admin.delete(Clusters, { namespace: workspace, name: 'kept' });
    await endOf('kept');
    expect(hasAgent('kept')).toBe(false);
  });
});

describe.concurrent('names', () => {
  it('given a Cluster of that name that no rule made, when wanted, then it is left alone until it goes', async () => {
    await hub.admin.create(Clusters, cluster('foreign', { clientID: 'theirs' }));
    await rule('polite');
    await provision('foreign', 'polite');
    const taken = (r: RegistrationRule) => r.status?.conditions?.[0]?.reason === 'NameTaken' && r.status.failed === 1;
    await ruleThat(hub.admin, 'polite', taken, 'taken');
    expect(await events('Cluster', 'foreign')).toContain('NameTaken');
    expect((await find('foreign'))?.spec).toEqual({ clientID: 'theirs' });
    expect(await finalizersOf('foreign')).not.toContain(finalizer);
    await hub.admin.delete(Clusters, { namespace: workspace, name: 'foreign' });
    await imported('foreign');
  });

  it('given two sources that get one name, when the older has it, then the other says so, and has it after', async () => {
    await rule('narrow', { registration: { workspace, name: 'the-one' } });
    await provision('first', 'narrow');
    await imported('the-one');
    await provision('second', 'narrow');
    await ruleThat(hub.admin, 'narrow', (r) => r.status?.failed === 1 && r.status.matched === 2, 'one failed');
    expect((await find('the-one'))?.metadata.annotations?.['muster.dev/source']).toBe('Cluster/capi/first');
    await remove('first');
    const look = (c: Cluster) => c.metadata.annotations?.['muster.dev/source'] === 'Cluster/capi/second';
    await clusterOf('the-one', look, 'given to the second');
  });

  it('given a template that makes no name, when corrected, then it was told and is done', async () => {
    await rule('template', { registration: { workspace, name: '{class}-{name}' } });
    await provision('unnamed', 'template');
    await ruleThat(hub.admin, 'template', (r) => r.status?.conditions?.[0]?.reason === 'InvalidName', 'told');
    const spec = { registration: { name: 'x-{name}' } };
    await hub.admin.patch(RegistrationRules, { name: 'template' }, { spec }, { type: 'merge' });
    await imported('x-unnamed');
  });

  it('given a source made anew under its name, when the old one is registered, then that ends and the new one is', async () => {
    await rule('again');
    await provision('reborn', 'again');
    const first = await imported('reborn');
    // as `clusterctl move` does: finalizers are taken away, whoever set them
    await capi.patch('reborn', { metadata: { finalizers: [] } });
    await capi.delete('reborn');
    await capi.gone('reborn');
    await provision('reborn', 'again');
    const look = (c: Cluster) => c.metadata.uid !== first.metadata.uid && condition(c, 'Imported')?.status === 'True';
    const second = await clusterOf('reborn', look, 'registered anew');
    expect(second.metadata.annotations?.['muster.dev/source-uid']).toBe((await capi.find('reborn'))?.metadata.uid);
  });
});

describe.concurrent('namespaces', () => {
  it('given a namespace that is not open, when the rule names it, then it says so, and goes on when it is opened', async () => {
    await createNamespace(hub.admin, 'walled', { place: 'walled' });
    const walled = new PlayedClusterAPI(hub.admin, 'walled');
    await rule('walls', { namespaceSelector: { matchLabels: { place: 'walled' } } });
    await walled.provision('inside', edges.kubeconfig('inside'), { labels: { of: 'walls' } });
    await ruleThat(hub.admin, 'walls', (r) => r.status?.conditions?.[0]?.reason === 'NamespaceNotOpen', 'told');
    expect(await find('inside')).toBeUndefined();
    await createNamespace(hub.admin, 'walled', { place: 'walled', 'muster.dev/source': 'true' });
    await imported('inside');
    await removeRule('walls');
    await endOf('inside');
  });

  it('given a workspace that is none, when wanted, then the rule says so, and goes on when it is one', async () => {
    await createNamespace(hub.admin, 'elsewhere', {});
    await rule('far', { registration: { workspace: 'elsewhere' } });
    await provision('away', 'far');
    await ruleThat(hub.admin, 'far', (r) => r.status?.conditions?.[0]?.reason === 'WorkspaceNotOpen', 'told');
    await createNamespace(hub.admin, 'elsewhere', { 'muster.dev/workspace': 'true' });
    await poll(() => (hasAgent('away') ? true : undefined), { what: 'the agent' });
  });
});

describe.concurrent('what limits rules', () => {
  const source = { 'muster.dev/source': 'Cluster/capi/x', 'muster.dev/kubeconfig': 'capi/x-kubeconfig/value' };

  it('given who may write Clusters, when he says that a rule made one, then a policy refuses; who may write rules can', async () => {
    const metadata = { name: 'writer', namespace: workspace };
    await hub.admin.apply(
      ServiceAccounts,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
      { fieldManager: 'test' },
    );
    const rules = [{ apiGroups: ['fleet.cattle.io'], resources: ['clusters'], verbs: ['create', 'patch', 'get'] }];
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules };
    await hub.admin.apply(Roles, role, { fieldManager: 'test' });
    const subjects = [{ kind: 'ServiceAccount' as const, ...metadata }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' } as const;
    const binding = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata, subjects, roleRef };
    await hub.admin.apply(RoleBindings, binding, { fieldManager: 'test' });
    const writer = await hub.as(metadata);
    const mine = cluster('mine', { kubeConfigSecret: 'x-kubeconfig', kubeConfigSecretNamespace: 'capi' });
    const forged = { ...mine, metadata: { ...mine.metadata, annotations: source } };
    await expect(writer.create(Clusters, forged)).rejects.toThrow('muster-source-marks');
    await writer.create(Clusters, mine);
    const key = { namespace: workspace, name: 'mine' };
    const mark = { metadata: { annotations: source } };
    await expect(writer.patch(Clusters, key, mark, { type: 'merge' })).rejects.toThrow('muster-source-marks');
    await clusterOf('mine', (c) => condition(c, 'Imported')?.reason === 'KubeconfigNamespaceRefused', 'refused');
    await hub.admin.create(Clusters, { ...forged, metadata: { ...forged.metadata, name: 'restored' } });
    const taken = { metadata: { annotations: { 'muster.dev/source': null, other: 'x' } } };
    await writer.patch(Clusters, { namespace: workspace, name: 'restored' }, taken, { type: 'merge' });
  });

  it('given the hub itself, when it does more than its part to sources or Clusters, then policies refuse', async () => {
    await capi.create('untouched');
    await capi.kubeconfig('untouched', 'x');
    const merge = { type: 'merge' } as const;
    const key = { namespace: 'capi', name: 'untouched' };
    const hold = { metadata: { finalizers: ['cluster.cluster.x-k8s.io', finalizer] } };
    await hub.hub.patch(capi.type, key, hold, merge);
    for (const patch of [
      { spec: { paused: true } },
      { metadata: { labels: { x: 'y' } } },
      { metadata: { finalizers: [finalizer] } },
    ]) {
      await expect(hub.hub.patch(capi.type, key, patch, merge)).rejects.toThrow('muster-hub-sources');
    }
    const secret = { namespace: 'capi', name: 'untouched-kubeconfig' };
    await expect(hub.hub.patch(Secrets, secret, { data: { value: 'b3RoZXI=' } }, merge)).rejects.toThrow(
      'muster-hub-sources',
    );
    await expect(hub.hub.delete(Secrets, secret)).rejects.toThrow('forbidden');
    await hub.admin.create(Clusters, cluster('by-hand', { clientID: 'by-hand' }));
    const byHand = { namespace: workspace, name: 'by-hand' };
    await expect(hub.hub.delete(Clusters, byHand)).rejects.toThrow('muster-hub-deletions');
    const more: RoleBinding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'more', namespace: 'capi' },
      subjects: [{ kind: 'ServiceAccount', name: 'muster-hub', namespace: 'cattle-fleet-system' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'muster-hub-namespace' },
    };
    await expect(hub.hub.create(RoleBindings, more)).rejects.toThrow('muster-hub-bindings');
  });
});
