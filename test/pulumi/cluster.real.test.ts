import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { annotations } from '../../api/fleet/constants.ts';
import { clusterSpec } from '../../api/fleet/cluster.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { Props } from '../../provider/handler.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, FaultProxy } from '../harness/index.ts';
import { DynamicHost, inputsOf } from './dynamic-host.ts';
import { readyStatus, ScriptedHub } from './scripted-hub.ts';

// Whole installations on a control plane of two cores that other tests use as well.
vi.setConfig({ testTimeout: 120_000 });

let plane: ControlPlane;
let other: ControlPlane;
let client: KubeClient;
let hub: ScriptedHub;
let host: DynamicHost;
let count = 0;
let name = '';

beforeAll(async () => {
  [plane, other] = await Promise.all([
    ControlPlane.start({ name: 'hub' }),
    ControlPlane.start({ name: 'other', controllerManager: false }),
  ]);
  client = plane.client();
  hub = await ScriptedHub.start(client);
  host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': plane.kubeconfig } });
});
afterAll(async () => {
  await host?.close();
  await hub?.close();
  await client?.close();
  await Promise.all([plane?.close(), other?.close()]);
});
beforeEach(() => {
  name = `east-${++count}`;
  Object.assign(hub.script, { cluster: readyStatus, tokens: true, release: true });
});

const key = () => ({ namespace: 'fleet-default', name });
const secretKey = () => ({ namespace: 'fleet-default', name: `${name}-kubeconfig` });
const byKubeconfig = (more: Props = {}) =>
  inputsOf('Cluster', { metadata: { name }, kubeconfig: plane.kubeconfig, ...more });
/** The same cluster with another credential. */
const rotated = () => plane.kubeconfigFor(plane.issueClientCertificate('rotated', ['system:masters']));

describe('a Cluster with a kubeconfig', () => {
  test('is created, awaited, stays without changes, and is deleted with its Secret (T4, T7, T16)', async () => {
    const stored = await host.create(byKubeconfig({ metadata: { name, labels: { env: 'dev' } } }));

    expect(stored.initErrors).toBeUndefined();
    expect(stored.id).toBe(`fleet-default/${name}`);
    expect(stored.outputs).toMatchObject({
      ready: true,
      namespace: clusterNamespace('fleet-default', name),
      schemaVersion: 1,
    });
    const secret = await client.get(Secrets, secretKey());
    expect(Buffer.from(secret.data?.['value'] ?? '', 'base64').toString()).toBe(plane.kubeconfig);
    expect(await host.diff(stored, stored.inputs)).toEqual({
      changes: 'none',
      replaces: [],
      deleteBeforeReplace: false,
    });

    await host.delete(stored);
    expect(await client.find(Clusters, key())).toBeUndefined();
    expect(await client.find(Secrets, secretKey())).toBeUndefined();
    await host.delete(stored);
  });

  test('reaches every field of the wire, reads each back, and takes each away again (T4, T5, T12)', async () => {
    const everything = {
      metadata: { name, labels: { 'fleet.cattle.io/cluster-management': 'mine' }, annotations: { note: 'x' } },
      redeploy: 2,
      paused: true,
      templateValues: { a: { b: 1 } },
      agentSettings: {
        namespace: 'agents',
        envVars: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }],
        tolerations: [{ key: 'k', operator: 'Exists' }],
        affinity: { nodeAffinity: {} },
        resources: { limits: { memory: '64Mi' } },
        schedulingCustomization: { priorityClass: { value: 7 }, podDisruptionBudget: { minAvailable: '1' } },
        imagePullSecrets: ['pull'],
        hostNetwork: true,
        privateRepoURL: 'registry.test',
      },
    };
    const stored = await host.create(byKubeconfig(everything));
    expect(stored.initErrors).toBeUndefined();
    const { spec } = await client.get(Clusters, key());
    expect(spec).toMatchObject({
      kubeConfigSecret: `${name}-kubeconfig`,
      redeployAgentGeneration: 2,
      paused: true,
      templateValues: { a: { b: 1 } },
      agentNamespace: 'agents',
      agentEnvVars: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }],
      agentTolerations: [{ key: 'k', operator: 'Exists' }],
      agentAffinity: { nodeAffinity: {} },
      agentResources: { limits: { memory: '64Mi' } },
      agentSchedulingCustomization: { priorityClass: { value: 7 }, podDisruptionBudget: { minAvailable: '1' } },
      agentPullSecrets: [{ name: 'pull' }],
      hostNetwork: true,
      privateRepoURL: 'registry.test',
    });
    // What is in the schema of the kind and is no input would have to be named here.
    const settable = Object.keys(clusterSpec.shape).filter((field) => !(field in (spec ?? {})));
    expect(settable).toEqual(['clientID', 'kubeConfigSecretNamespace']);
    const read = await host.read(stored);
    expect(read).toMatchObject({ inputs: stored.inputs });
    expect(await host.diff(read ?? stored, stored.inputs)).toMatchObject({ changes: 'none' });

    // No pull Secret at all is another wish than the hub's own.
    const none = await host.update(stored, byKubeconfig({ agentSettings: { imagePullSecrets: [] } }));
    const after = (await client.get(Clusters, key())).spec;
    expect(after?.agentPullSecrets).toEqual([]);
    const left = Object.keys(after ?? {}).sort();
    expect(left.filter((field) => field !== 'clientID')).toEqual(['agentPullSecrets', 'kubeConfigSecret']);
    expect(await host.diff(none, none.inputs)).toMatchObject({ changes: 'none' });
    await host.delete(none);
  });

  test('takes a rotated kubeconfig as an update, and another cluster as a replacement or an error (T6)', async () => {
    const stored = await host.create(byKubeconfig());
    const kubeconfig = rotated();

    const rotation = await host.checked(byKubeconfig({ kubeconfig }), stored.inputs);
    expect(await host.diff(stored, rotation)).toEqual({ changes: 'some', replaces: [], deleteBeforeReplace: false });
    const updated = await host.update(stored, rotation);
    expect(updated.outputs['uid']).toBe(stored.outputs['uid']);
    const secret = await client.get(Secrets, secretKey());
    expect(Buffer.from(secret.data?.['value'] ?? '', 'base64').toString()).toBe(kubeconfig);

    const moved = await host.checked(byKubeconfig({ kubeconfig: other.kubeconfig }), stored.inputs);
    expect(await host.diff(updated, moved)).toEqual({
      changes: 'some',
      replaces: ['kubeconfig'],
      deleteBeforeReplace: true,
    });
    const refused = { ...moved, onOtherCluster: 'error' };
    expect(await host.diff(updated, refused)).toMatchObject({ changes: 'some', replaces: [] });
    await expect(host.update(updated, refused)).rejects.toThrow('[WRONG_CLUSTER]');
    await host.delete(updated);
  });

  test('moves to another hub as a replacement, but not to another address of the same (T5, T6)', async () => {
    const stored = await host.create(byKubeconfig({ hub: { kubeconfig: plane.kubeconfig } }));
    const same = await host.checked(byKubeconfig({ hub: { kubeconfig: rotated() } }), stored.inputs);
    expect(await host.diff(stored, same)).toMatchObject({ changes: 'some', replaces: [] });
    const moved = await host.checked(byKubeconfig({ hub: { kubeconfig: other.kubeconfig } }), stored.inputs);
    expect(await host.diff(stored, moved)).toMatchObject({ replaces: ['hub'], deleteBeforeReplace: true });
    await host.delete(stored);
  });

  test('keeps what is stored when only labels change (T5, T10)', async () => {
    const stored = await host.create(byKubeconfig({ metadata: { name, labels: { env: 'dev', tier: 'a' } } }));
    const news = await host.checked(byKubeconfig({ metadata: { name, labels: { env: 'prod' } } }), stored.inputs);

    expect(await host.diff(stored, news)).toMatchObject({ changes: 'some', replaces: [] });
    const updated = await host.update(stored, news);
    expect(Object.keys(updated.outputs).sort()).toEqual(Object.keys(stored.outputs).sort());
    expect((await client.get(Clusters, key())).metadata.labels).toEqual({ env: 'prod' });
    const renamed = await host.checked(byKubeconfig({ metadata: { name: 'other' } }), stored.inputs);
    expect(await host.diff(updated, renamed)).toMatchObject({ replaces: ['metadata.name'] });
    await host.delete(updated);
  });
});

describe('a Cluster declared by clientID', () => {
  test('gets a stable name and identity of its own (T2)', async () => {
    const first = await host.check(inputsOf('Cluster', {}, 'My Cluster'));
    expect(first.failures).toEqual([]);
    expect(first.inputs).toMatchObject({
      metadata: { namespace: 'fleet-default', name: expect.stringMatching(/^my-cluster-[0-9a-f]{8}$/) as string },
      clientID: expect.stringMatching(/^.{54}$/) as string,
      awaitReady: false,
    });
    const again = await host.check(first.inputs, first.inputs);
    expect(again).toEqual(first);
    expect((await host.check(inputsOf('Cluster', {}, 'My Cluster'), first.inputs)).inputs).toEqual(first.inputs);
  });

  test('replaces an automatic name without deleting first (T5)', async () => {
    const stored = await host.create(inputsOf('Cluster', {}));
    const news = await host.checked(inputsOf('Cluster', { clientID: 'another' }), stored.inputs);
    expect(await host.diff(stored, news)).toEqual({
      changes: 'some',
      replaces: ['clientID'],
      deleteBeforeReplace: false,
    });
    await host.delete(stored);
  });
});

describe('unknown inputs (T3)', () => {
  test('are neither refused nor compared', async () => {
    const news = byKubeconfig({
      kubeconfig: unknownValue,
      hub: { kubeconfig: unknownValue },
      metadata: { name, labels: { env: unknownValue } },
      agentSettings: { tolerations: [unknownValue], envVars: [{ name: unknownValue, value: 'x' }] },
    });
    const { inputs, failures } = await host.check(news);
    expect(failures).toEqual([]);
    expect(inputs).toMatchObject({ kubeconfig: unknownValue, awaitReady: true });
    expect((await host.check(byKubeconfig({ metadata: unknownValue }))).failures).toEqual([]);

    const stored = await host.create(byKubeconfig());
    expect(await host.diff(stored, inputs)).toMatchObject({ changes: 'some', replaces: [] });
    const named = await host.checked(byKubeconfig({ metadata: { name: unknownValue } }), stored.inputs);
    expect(await host.diff(stored, named)).toMatchObject({ replaces: ['metadata.name'] });
    const all = await host.checked(byKubeconfig({ metadata: unknownValue }), stored.inputs);
    expect(await host.diff(stored, all)).toMatchObject({ replaces: ['metadata'] });
    await host.delete(stored);
  });
});

describe('wrong inputs (T1)', () => {
  const kubeconfig = (user: object, cluster: object = { server: 'https://127.0.0.1:1' }) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
    });
  const exec = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws', interactiveMode: 'Never' } };

  test.each<[string, Props, string, RegExp]>([
    ['an empty kubeconfig', { kubeconfig: '' }, 'kubeconfig', /INVALID_KUBECONFIG/],
    ['a kubeconfig that is not YAML', { kubeconfig: '{[' }, 'kubeconfig', /INVALID_KUBECONFIG/],
    [
      'a kubeconfig without context',
      { kubeconfig: 'apiVersion: v1\nkind: Config\n' },
      'kubeconfig',
      /INVALID_KUBECONFIG/,
    ],
    ['a plugin for the hub', { kubeconfig: kubeconfig(exec) }, 'kubeconfig', /KUBECONFIG_REFUSED/],
    ['a label value', { metadata: { name: 'a', labels: { env: 'a b' } } }, 'metadata.labels.env', /label value/],
    ['a label key', { metadata: { name: 'a', labels: { '-x': 'a' } } }, 'metadata.labels["-x"]', /label key/],
    ['a name', { metadata: { name: 'East_1' } }, 'metadata.name', /lower-case/],
    ['a timeout', { timeouts: { create: '5 minutes' } }, 'timeouts.create', /not a duration/],
    ['a timeout of nothing', { timeouts: { create: '0' } }, 'timeouts.create', /above zero/],
    ['an unknown argument', { kubeConfig: 'x' }, '', /kubeConfig/],
    ['a toleration', { agentSettings: { tolerations: [{ key: 7 }] } }, 'agentSettings.tolerations[0].key', /text/],
    ['two kubeconfigs', { kubeconfigSecret: { name: 'x' } }, 'kubeconfigSecret', /either/],
    ['an address', { apiServerURL: 'hub' }, 'apiServerURL', /URL/],
    ['a hub', { hub: { kubeconfig: 'nonsense' } }, 'hub.kubeconfig', /INVALID_KUBECONFIG/],
  ])('%s is refused with its path and reason', async (_what, args, property, reason) => {
    const { failures } = await host.check(byKubeconfig(args));
    expect(failures).toEqual([{ property, reason: expect.stringMatching(reason) as string }]);
  });

  test('a plugin in the hub kubeconfig is fine: it is the user’s own', async () => {
    expect((await host.check(byKubeconfig({ hub: { kubeconfig: kubeconfig(exec) } }))).failures).toEqual([]);
  });

  test('no failure quotes a kubeconfig', async () => {
    const secret = 'a-very-secret-token';
    const { failures } = await host.check(byKubeconfig({ kubeconfig: kubeconfig({ token: secret, ...exec }) }));
    expect(JSON.stringify(failures)).not.toContain(secret);
  });
});

describe('failures', () => {
  test('a wait that ends without success keeps the Cluster and names the stage (T8, T9)', async () => {
    hub.script.cluster = () => ({
      conditions: [
        { type: 'Processed', status: 'True' },
        { type: 'Imported', status: 'False', reason: 'ClusterUnreachable', message: 'connection refused' },
      ],
    });
    const stored = await host.create(byKubeconfig({ timeouts: { create: '1s' } }));
    expect(stored.initErrors).toEqual([
      expect.stringMatching(/TIMEOUT.*stuck at: Imported is False \(ClusterUnreachable\): connection refused/),
    ]);
    expect(stored.outputs).toMatchObject({ ready: false, metadata: { name } });

    hub.script.cluster = readyStatus;
    await hub.again();
    const resumed = await host.update(stored, byKubeconfig());
    expect(resumed.outputs).toMatchObject({ ready: true, uid: stored.outputs['uid'] });
    await host.delete(resumed);
  });

  test('a reason that only the user can change ends the wait at once', async () => {
    hub.script.cluster = () => ({
      conditions: [{ type: 'Imported', status: 'False', reason: 'KubeconfigRefused', message: 'exec' }],
    });
    const stored = await host.create(byKubeconfig());
    expect(stored.initErrors?.[0]).toContain('Imported is False (KubeconfigRefused): exec');
    await host.delete(stored);
  });

  test('a hub that does not answer is told as such', async () => {
    hub.script.cluster = () => undefined;
    const stored = await host.create(byKubeconfig({ timeouts: { create: '1s' } }));
    expect(stored.initErrors?.[0]).toContain('Is the hub running?');
    await host.delete(stored);
  });

  test('an object of this stack is adopted, one of somebody else is not (T8, T19)', async () => {
    const object = { apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'Cluster', metadata: key(), spec: {} };
    await client.create(Clusters, object);
    await expect(host.create(byKubeconfig())).rejects.toThrow(/\[ALREADY_OWNED\].*was not made by this stack/);
    expect(await client.find(Secrets, secretKey())).toBeUndefined();

    await client.patch(
      Clusters,
      key(),
      { metadata: { annotations: { [annotations.owner]: 'demo/test' } } },
      { type: 'merge' },
    );
    const stored = await host.create(byKubeconfig());
    expect(stored.outputs).toMatchObject({ ready: true });
    await host.delete(stored);
  });

  test('a Secret of somebody else is not overwritten', async () => {
    const metadata = secretKey();
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { value: 'eA==' } });
    await expect(host.create(byKubeconfig())).rejects.toThrow('[ALREADY_OWNED]');
    expect(await client.find(Clusters, key())).toBeUndefined();
  });

  test('a delete that is held names the finalizer, and can be repeated (T16)', async () => {
    const stored = await host.create(byKubeconfig({ timeouts: { delete: '1s' } }));
    hub.script.release = false;
    await expect(host.delete(stored)).rejects.toThrow(/TIMEOUT.*fleet.cattle.io\/cluster-finalizer/);
    expect(await client.find(Secrets, secretKey())).toBeDefined();
    hub.script.release = true;
    await hub.again();
    await host.delete(stored);
    expect(await client.find(Secrets, secretKey())).toBeUndefined();
  });

  test('a missing object reads as gone, a refused or unreachable hub never does (T11)', async () => {
    const stored = await host.create(byKubeconfig());
    await host.delete(stored);
    expect(await host.read(stored)).toBeUndefined();

    const nobody = {
      ...stored,
      outputs: { ...stored.outputs, hub: { kubeconfig: plane.kubeconfigFor({ token: 'wrong' }) } },
    };
    await expect(host.read(nobody)).rejects.toThrow('[UNAUTHORIZED]');
    await expect(host.read(nobody)).rejects.not.toThrow('wrong');
    const nowhere = plane.kubeconfigFor({ token: 'x' }, { server: 'https://127.0.0.1:1' });
    const unreachable = { ...stored, outputs: { ...stored.outputs, hub: { kubeconfig: nowhere } } };
    await expect(host.read(unreachable)).rejects.toThrow('[UNREACHABLE]');
  });

  test('missing configuration is one readable error that names the key; an explicit hub goes first (T17)', async () => {
    await using bare = await DynamicHost.start();
    await expect(bare.create(byKubeconfig())).rejects.toThrow(/\[INVALID_ARGUMENT\].*muster:hubKubeconfig/);
    const stored = await bare.create(byKubeconfig({ hub: { kubeconfig: plane.kubeconfig } }));
    expect(stored.outputs).toMatchObject({ ready: true });
    await bare.delete(stored);
  });

  test('first calls side by side all see the configuration (T17)', async () => {
    await using fresh = await DynamicHost.start({ config: { 'muster:hubKubeconfig': plane.kubeconfig } });
    const inputs = [1, 2, 3].map((number) =>
      inputsOf('Cluster', { metadata: { name: `${name}-${number}` }, kubeconfig: plane.kubeconfig }),
    );
    const stored = await Promise.all(inputs.map((input) => fresh.create(input)));
    expect(stored.map(({ outputs }) => outputs['ready'])).toEqual([true, true, true]);
    await Promise.all(stored.map((resource) => fresh.delete(resource)));
  });
});

describe('refresh (T12)', () => {
  test('is without changes, and an edit by hand is one difference that the next update puts right', async () => {
    const stored = await host.create(byKubeconfig({ metadata: { name, labels: { env: 'dev' } }, paused: false }));
    const read = await host.read(stored);
    expect(read?.outputs).toEqual(stored.outputs);
    expect(read?.inputs).toEqual(stored.inputs);

    const edit = { metadata: { labels: { env: 'prod', theirs: 'stays' } } };
    await client.patch(Clusters, key(), edit, { type: 'merge' });
    const edited = await host.read(stored);
    expect(edited?.inputs).toEqual({
      ...stored.inputs,
      metadata: { name, namespace: 'fleet-default', labels: { env: 'prod' } },
    });
    if (edited === undefined) return;
    expect(await host.diff(edited, stored.inputs)).toMatchObject({ changes: 'some', replaces: [] });
    await host.update(edited, stored.inputs);
    expect((await client.get(Clusters, key())).metadata.labels).toEqual({ env: 'dev', theirs: 'stays' });
    await host.delete(stored);
  });
});

describe('secrets (T13)', () => {
  test('stand only under the names that are declared secret, and nowhere in what is printed', async () => {
    const secrets = [plane.adminToken, other.adminToken];
    const stored = await host.create(byKubeconfig({ hub: { kubeconfig: plane.kubeconfig } }));
    for (const [property, value] of Object.entries(stored.outputs)) {
      const found = secrets.some((secret) => JSON.stringify(value).includes(secret));
      expect([property, found]).toEqual([property, ['hub', 'kubeconfig'].includes(property)]);
    }
    await host.delete(stored);
    for (const secret of secrets) expect(host.output).not.toContain(secret);
  });
});

describe('many at once (T18)', () => {
  test('fifty creates share their connections and take a busy hub as it is', async () => {
    await using proxy = await FaultProxy.start(plane);
    proxy.fail({ match: { method: 'PATCH' }, status: 429, times: 5 });
    const kubeconfig = plane.kubeconfigFor({ token: plane.adminToken }, proxy);
    const names = Array.from({ length: 50 }, (_, index) => `${name}-${index}`);
    const inputs = names.map((each) =>
      inputsOf('Cluster', { metadata: { name: each }, kubeconfig: plane.kubeconfig, hub: { kubeconfig } }),
    );
    const stored = await Promise.all(inputs.map((input) => host.create(input)));
    expect(stored.filter(({ outputs, initErrors }) => outputs['ready'] !== true || initErrors !== undefined)).toEqual(
      [],
    );
    await Promise.all(stored.map((resource) => host.delete(resource)));
  });
});
