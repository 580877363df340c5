import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { agentNames, annotations, secretNames } from '../../api/fleet/constants.ts';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import { ClusterRoles } from '../../api/kubernetes/rbac.ts';
import { CustomResourceDefinitions, Deployments } from '../../api/kubernetes/workloads.ts';
import type { KubeObject } from '../../api/resource.ts';
import { resourceTypeOf } from '../../components/fleet/index.ts';
import type { Props } from '../../provider/handler.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane } from '../harness/index.ts';
import { leftOver, takeInventory } from '../harness/inventory.ts';
import { DynamicHost, inputsOf } from './dynamic-host.ts';
import { ScriptedHub } from './scripted-hub.ts';
import { ScriptedWorkloads, withoutDeployments } from './scripted-workloads.ts';

const system = 'cattle-fleet-system';
const image = 'example.test/muster:1';

// Whole installations on a control plane of two cores that other tests use as well.
vi.setConfig({ testTimeout: 120_000 });

let plane: ControlPlane;
let other: ControlPlane;
let client: KubeClient;
let workloads: ScriptedWorkloads;
let host: DynamicHost;

beforeAll(async () => {
  [plane, other] = await Promise.all([
    ControlPlane.start({ name: 'hub', controllerManagerArgs: withoutDeployments }),
    ControlPlane.start({ name: 'other', controllerManager: false }),
  ]);
  await plane.whenWorking();
  client = plane.client();
  workloads = new ScriptedWorkloads(client);
  host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': plane.kubeconfig } });
});
afterAll(async () => {
  await host?.close();
  await workloads?.close();
  await client?.close();
  await Promise.all([plane?.close(), other?.close()]);
});

const hub = (more: Props = {}) =>
  inputsOf('HubRelease', { image, config: { apiServerURL: plane.server, apiServerCA: plane.ca }, ...more }, 'hub');
const clusters = () => client.list(Clusters).then(({ items }) => items.length);

describe('HubRelease', () => {
  test('is installed, upgraded in place, and leaves nothing behind', async () => {
    const before = await takeInventory(client);
    const stored = await host.create(hub());
    expect(stored.initErrors).toBeUndefined();
    expect(stored).toMatchObject({ id: `${system}/muster-hub`, outputs: { ready: true, drift: [] } });
    const config = await client.get(ConfigMaps, { namespace: system, name: 'fleet-controller' });
    const written = JSON.parse(config.data?.['config'] ?? '{}') as { apiServerCA: string };
    expect(Buffer.from(written.apiServerCA, 'base64').toString()).toBe(plane.ca);
    expect(await clusters()).toBe(0);
    expect(await host.diff(stored, stored.inputs)).toEqual({
      changes: 'none',
      replaces: [],
      deleteBeforeReplace: false,
    });
    expect(await host.read(stored)).toMatchObject({ inputs: stored.inputs, outputs: stored.outputs });

    const news = await host.checked(hub({ image: 'example.test/muster:2', workspaces: ['edge'] }), stored.inputs);
    expect(await host.diff(stored, news)).toMatchObject({ changes: 'some', replaces: [] });
    const upgraded = await host.update(stored, news);
    expect(upgraded.initErrors).toBeUndefined();
    expect((await client.get(Deployments, { namespace: system, name: 'muster-hub' })).spec.template.spec).toMatchObject(
      {
        containers: [{ image: 'example.test/muster:2' }],
      },
    );
    // A workspace that is not declared any more goes; its namespace was made by the release.
    expect(await client.find(Namespaces, { name: 'fleet-default' })).toBeUndefined();
    expect(await client.find(Namespaces, { name: 'edge' })).toBeDefined();

    await host.delete(upgraded);
    await host.delete(upgraded);
    expect(leftOver(before, await takeInventory(client))).toEqual([]);
    await expect(clusters()).rejects.toSatisfy(isNotFound);
  });

  test('sees what was changed by hand, and puts it right (T12)', async () => {
    const stored = await host.create(hub());
    await client.delete(ClusterRoles, { name: 'fleet-content' });
    const edit = { spec: { replicas: 3 } };
    await client.patch(Deployments, { namespace: system, name: 'muster-hub' }, edit, { type: 'merge' });
    const read = await host.read(stored);
    expect(read?.outputs['drift']).toEqual([
      'rbac.authorization.k8s.io/v1/ClusterRole fleet-content',
      'apps/v1/Deployment cattle-fleet-system/muster-hub',
    ]);
    if (read === undefined) return;
    expect(await host.diff(read, stored.inputs)).toMatchObject({ changes: 'some', replaces: [] });
    const repaired = await host.update(read, stored.inputs);
    expect(await client.find(ClusterRoles, { name: 'fleet-content' })).toBeDefined();
    expect((await host.read(repaired))?.outputs).toMatchObject({ drift: [], ready: true });
    await host.delete(repaired);
  });

  test('refuses to go while clusters are registered, unless it is told to', async () => {
    const stored = await host.create(hub());
    const scripted = await ScriptedHub.start(client);
    await host.create(inputsOf('Cluster', { metadata: { name: 'kept' } }));
    await expect(host.delete(stored)).rejects.toThrow(/\[IN_USE\].*Cluster fleet-default\/kept/);
    expect(await client.find(Deployments, { namespace: system, name: 'muster-hub' })).toBeDefined();

    scripted.script.release = false;
    const forced = await host.update(stored, hub({ force: true }));
    await host.delete(forced);
    await scripted.close();
    await expect(clusters()).rejects.toSatisfy(isNotFound);
    expect(await client.find(Deployments, { namespace: system, name: 'muster-hub' })).toBeUndefined();
    expect(await host.read(forced)).toBeUndefined();
  });

  test('outlives what was there before it', async () => {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fleet-local' } });
    const stored = await host.create(hub());
    // Used as a workspace, but without the label by which muster would take it for its own.
    const used = await client.get(Namespaces, { name: 'fleet-local' });
    expect(used.metadata.labels).toMatchObject({ 'muster.dev/workspace': 'true' });
    expect(used.metadata.labels).not.toHaveProperty('app.kubernetes.io/managed-by');
    await host.delete(stored);
    expect((await client.get(Namespaces, { name: 'fleet-local' })).metadata.deletionTimestamp).toBeUndefined();
    // The next release waits until it is gone.
    await client.delete(Namespaces, { name: 'fleet-local' });
  });

  test('that does not start is kept, and told with the reason (T9)', async () => {
    workloads.held.add('muster-hub');
    const stored = await host.create(hub({ timeouts: { create: '10s' } }));
    workloads.held.clear();
    expect(stored.initErrors?.[0]).toMatch(/TIMEOUT.*Deployment cattle-fleet-system\/muster-hub.*stuck at/);
    expect((stored.outputs['objects'] as string[]).length).toBeGreaterThan(20);
    await host.delete(stored);
  });

  test('keeps away from a hub of Fleet', async () => {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'theirs' } });
    const labels = { app: 'fleet-controller' };
    await client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'fleet-controller', namespace: 'theirs' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    const refusal = /\[ALREADY_OWNED\].*Deployment theirs\/fleet-controller/;
    await expect(host.create(hub({ namespace: 'theirs' }))).rejects.toThrow(refusal);
    // In another namespace it would answer the same objects.
    await expect(host.create(hub())).rejects.toThrow(refusal);
    // Stopped, or run by hand: its configuration is still there.
    await client.delete(Deployments, { namespace: 'theirs', name: 'fleet-controller' });
    await client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'fleet-controller', namespace: 'theirs', labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
      data: { config: '{}' },
    });
    await expect(host.create(hub({ namespace: 'theirs' }))).rejects.toThrow(
      /\[ALREADY_OWNED\].*ConfigMap theirs\/fleet-controller.*leave out HubRelease/,
    );
    expect((await client.list(CustomResourceDefinitions)).items.map(({ metadata }) => metadata.name)).toEqual([]);
    await client.delete(Namespaces, { name: 'theirs' });
  });

  test('moves to another namespace as a replacement, and lets unknowns be (T3, T5)', async () => {
    const { inputs } = await host.check(hub({ config: { apiServerURL: unknownValue }, image: unknownValue }));
    const stored = {
      id: `${system}/muster-hub`,
      inputs,
      outputs: { ...(await host.checked(hub())), hubUID: '', ready: true, objects: [], manifestHash: '', drift: [] },
    };
    expect(await host.diff(stored, inputs)).toMatchObject({ changes: 'some', replaces: [] });
    const moved = await host.checked(hub({ namespace: 'elsewhere' }));
    expect(await host.diff(stored, moved)).toMatchObject({ replaces: ['namespace'], deleteBeforeReplace: true });
    const { failures } = await host.check(hub({ image: '', config: { apiServerURL: 'x' }, replicas: 1.5 }));
    expect(failures.map(({ property }) => property)).toEqual(['replicas', 'image', 'config.apiServerURL']);
  });

  test('writes every field of the configuration, and refuses what the hub would not read (T1)', async () => {
    const config = {
      systemDefaultRegistry: 'registry.test/',
      agentImage: 'example.test/muster:1',
      agentImagePullPolicy: 'Always',
      apiServerURL: plane.server,
      apiServerCA: Buffer.from(plane.ca).toString('base64'),
      agentCheckinInterval: '5m',
      agentTLSMode: 'strict',
      agentWorkers: { bundledeployment: '5', drift: '6' },
      garbageCollectionInterval: '1h30m',
      imagePullSecrets: [{ name: 'pull' }],
      ignoreClusterRegistrationLabels: true,
      registrationTokenTTLRequired: true,
      manageAgent: false,
      bootstrap: {
        namespace: 'fleet-local',
        agentNamespace: 'local-agents',
        localAgentDisabled: true,
        clusterLabels: { name: 'local' },
        repo: 'https://git.test/fleet',
        secret: 'git',
        branch: 'main',
        paths: 'hub,edge',
      },
      gitClientTimeout: '30s',
      webhookReceiverURL: 'https://hooks.test',
      githubURLPrefix: 'https://git.test',
    };
    const stored = await host.create(hub({ config }));
    const written = await client.get(ConfigMaps, { namespace: system, name: 'fleet-controller' });
    expect(JSON.parse(written.data?.['config'] ?? '{}')).toEqual(config);
    // what the hub may not give to the agent of its own cluster comes with the release
    expect(stored.outputs['objects']).toEqual(
      expect.arrayContaining([
        'v1/Namespace local-agents',
        'v1/ServiceAccount local-agents/fleet-agent',
        'rbac.authorization.k8s.io/v1/Role local-agents/muster-hub-local-agent',
      ]),
    );
    await host.delete(stored);
    const wrong = { agentCheckinInterval: 'soon', agentWorkers: { drift: 'x' }, manageAgent: 'no', agentImag: 'x' };
    const { failures } = await host.check(hub({ config: wrong }));
    expect(failures.map(({ property }) => property).sort()).toEqual([
      'config',
      'config.agentCheckinInterval',
      'config.agentWorkers.drift',
      'config.manageAgent',
    ]);
  });
});

describe('AgentRelease', () => {
  const values = (token = 'bootstrap-token') =>
    formatValues({
      clusterNamespace: 'fleet-default',
      apiServerURL: 'https://hub.test:6443',
      apiServerCA: '',
      token,
      tokenName: 'stores',
      systemRegistrationNamespace: 'cattle-fleet-clusters-system',
    });
  const agent = (more: Props = {}) =>
    inputsOf(
      'AgentRelease',
      { kubeconfig: plane.kubeconfig, values: values(), image, clientID: 'me', ...more },
      'agent',
    );
  const bootstrap = { namespace: system, name: secretNames.bootstrap };
  const workload = { namespace: system, name: agentNames.deployment };

  test('is installed, upgraded, not given a new token once it is registered, and leaves nothing behind', async () => {
    const before = await takeInventory(client);
    const stored = await host.create(agent());
    expect(stored.initErrors).toBeUndefined();
    expect(stored.outputs).toMatchObject({ ready: true, namespace: system, drift: [] });
    const secret = await client.get(Secrets, bootstrap);
    expect(Buffer.from(secret.data?.['token'] ?? '', 'base64').toString()).toBe('bootstrap-token');
    expect(await host.diff(stored, stored.inputs)).toMatchObject({ changes: 'none' });
    expect(await host.read(stored)).toMatchObject({ inputs: stored.inputs, outputs: stored.outputs });

    // What the agent does when it has registered.
    await client.delete(Secrets, bootstrap);
    const metadata = { namespace: system, name: secretNames.agent };
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { kubeconfig: 'eA==' } });
    expect((await host.read(stored))?.outputs['drift']).toEqual([]);
    const news = await host.checked(
      agent({ image: 'example.test/muster:2', values: values('renewed') }),
      stored.inputs,
    );
    expect(await host.diff(stored, news)).toEqual({ changes: 'some', replaces: [], deleteBeforeReplace: false });
    const upgraded = await host.update(stored, news);
    expect(await client.find(Secrets, bootstrap)).toBeUndefined();

    await host.delete(upgraded);
    await host.delete(upgraded);
    expect(leftOver(before, await takeInventory(client))).toEqual([]);
  });

  test('does not take over an agent of somebody else', async () => {
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'agents' } });
    const labels = { app: 'fleet-agent' };
    await client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: agentNames.deployment, namespace: 'agents' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    const theirs = agent({ agentSettings: { namespace: 'agents' } });
    await expect(host.create(theirs)).rejects.toThrow(/\[ALREADY_OWNED\].*kubectl annotate/);
    const key = { name: agentNames.deployment, namespace: 'agents' };
    const owner = { metadata: { annotations: { [annotations.owner]: 'demo/test AgentRelease agents' } } };
    await client.patch(Deployments, key, owner, { type: 'merge' });
    const adopted = await host.create(theirs);
    expect(adopted.outputs).toMatchObject({ ready: true });
    await host.delete(adopted);
    await client.delete(Namespaces, { name: 'agents' });
  });

  test('is rolled back from a version that does not start, by its image alone, with its registration', async () => {
    const stored = await host.create(agent());
    expect(stored.outputs).toMatchObject({ previousImage: '' });
    const metadata = { namespace: system, name: secretNames.agent };
    const credential = await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: { kubeconfig: 'eA==' },
    });
    await client.delete(Secrets, bootstrap);
    workloads.held.add(agentNames.deployment);
    const broken = await host.update(stored, agent({ image: 'example.test/muster:bad', timeouts: { update: '2s' } }));
    workloads.held.clear();
    expect(broken.initErrors?.[0]).toMatch(/TIMEOUT.*Deployment cattle-fleet-system\/fleet-agent.*stuck at/);
    expect(broken.outputs).toMatchObject({ previousImage: image, ready: false });

    const news = await host.checked(agent({ image: broken.outputs['previousImage'] }), broken.inputs);
    expect(await host.diff(broken, news)).toMatchObject({ changes: 'some', replaces: [] });
    const back = await host.update(broken, news);
    expect(back.initErrors).toBeUndefined();
    expect(back.outputs).toMatchObject({ ready: true, image, previousImage: 'example.test/muster:bad' });
    expect((await client.get(Secrets, metadata)).metadata.uid).toBe(credential.metadata.uid);
    expect(await client.find(Secrets, bootstrap)).toBeUndefined();
    expect(await host.diff(back, back.inputs)).toMatchObject({ changes: 'none' });
    await host.delete(back);
  });

  test("releases Fleet's agent with its own command and rights, in the place of ours and back", async () => {
    const deployed = async () => {
      const { spec } = (await client.get(Deployments, workload)).spec.template;
      return spec as { containers: readonly object[] };
    };
    const role = { name: 'cattle-fleet-system-fleet-agent-role' };
    const ours = await host.create(agent());
    const theirs = await host.update(ours, agent({ image: 'rancher/fleet-agent:v0.16.1' }));
    expect(theirs.initErrors).toBeUndefined();
    expect(theirs.outputs).toMatchObject({ ready: true, deploysWorkloads: true });
    expect(await deployed()).toMatchObject({ containers: [{ command: ['fleetagent'] }] });
    expect((await deployed()).containers[0]).not.toHaveProperty('readinessProbe');
    const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    expect(await client.get(ClusterRoles, role)).toMatchObject({ rules: [everything, { verbs: ['*'] }] });
    const back = await host.update(theirs, agent());
    expect(await deployed()).toMatchObject({ containers: [{ command: ['muster', 'agent'], readinessProbe: {} }] });
    expect((await client.get(ClusterRoles, role)).rules).not.toContainEqual(everything);
    await host.delete(back);
  });

  test('is rendered for a cluster out of reach: nothing is applied, the manifest is stable and complete', async () => {
    const before = await takeInventory(client);
    const inputs = (more: Props = {}) =>
      inputsOf('AgentRelease', { render: true, values: values(), image, clientID: 'me', ...more }, 'agent');
    // Neither hub nor cluster is asked.
    const labels = { zone: 'b', env: 'dev' };
    const stored = await host.create(
      inputs({ labels, agentSettings: { resources: { limits: { memory: '128Mi', cpu: '1' } } } }),
    );
    expect(stored.id).toBe('rendered/agent');
    expect(leftOver(before, await takeInventory(client))).toEqual([]);
    const text = String(stored.outputs['manifest']);
    const again = await host.create(
      inputs({
        agentSettings: { resources: { limits: { cpu: '1', memory: '128Mi' } } },
        labels: { env: 'dev', zone: 'b' },
      }),
    );
    expect(again.outputs['manifest']).toBe(text);
    expect(await host.diff(stored, stored.inputs)).toMatchObject({ changes: 'none', replaces: [] });
    expect(await host.read(stored)).toMatchObject({ inputs: stored.inputs, outputs: stored.outputs });

    const objects = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
    expect(objects.map(({ kind }) => kind)).toEqual([
      ...['Namespace', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
      ...['NetworkPolicy', 'ConfigMap', 'Secret', 'Deployment', 'ServiceAccount'],
    ]);
    // What somebody applies there is an agent that registers; a release with a kubeconfig takes it over.
    for (const object of objects) await client.apply(resourceTypeOf(object), object, { fieldManager: 'k3s' });
    const secret = await client.get(Secrets, bootstrap);
    expect(Buffer.from(secret.data?.['token'] ?? '', 'base64').toString()).toBe('bootstrap-token');
    const news = await host.checked(agent({ labels, agentSettings: stored.inputs['agentSettings'] }), stored.inputs);
    expect(await host.diff(stored, news)).toMatchObject({ replaces: ['render'] });
    await host.delete(stored);
    expect(await client.find(Deployments, workload)).toBeDefined();
    const applied = await host.create(news);
    expect(applied.initErrors).toBeUndefined();
    await host.delete(applied);
    expect(leftOver(before, await takeInventory(client))).toEqual([]);
  });

  test('rendering follows a new image and token as updates, and refuses what only applying needs (T1)', async () => {
    const inputs = (more: Props = {}) =>
      inputsOf('AgentRelease', { render: true, values: values(), image, ...more }, 'agent');
    const stored = await host.create(inputs());
    const news = await host.checked(inputs({ image: 'example.test/muster:2', values: values('renewed') }));
    expect(await host.diff(stored, news)).toMatchObject({ changes: 'some', replaces: [] });
    const updated = await host.update(stored, news);
    expect(updated.outputs).toMatchObject({ previousImage: image });
    expect(updated.outputs['manifest']).toContain('example.test/muster:2');
    expect(updated.outputs['manifest']).toContain(Buffer.from('renewed').toString('base64'));
    const { failures } = await host.check(
      inputs({ kubeconfig: plane.kubeconfig, awaitReady: true, cluster: { name: 'a', namespace: 'b' } }),
    );
    expect(failures.map(({ property }) => property)).toEqual(['kubeconfig', 'cluster', 'awaitReady']);
    const { failures: missing } = await host.check(inputs({ render: false }));
    expect(missing.map(({ property }) => property)).toEqual(['kubeconfig']);
    expect((await host.check(inputs({ render: unknownValue }))).failures).toEqual([]);
    expect(host.output).not.toContain('bootstrap-token');
  });

  test('takes a rotated kubeconfig as an update and another cluster as a replacement (T6)', async () => {
    const stored = await host.create(agent({ awaitReady: false }));
    const again = plane.kubeconfigFor(plane.issueClientCertificate('rotated', ['system:masters']));
    const rotation = await host.checked(agent({ kubeconfig: again, awaitReady: false }), stored.inputs);
    expect(await host.diff(stored, rotation)).toMatchObject({ changes: 'some', replaces: [] });
    const moved = await host.checked(agent({ kubeconfig: other.kubeconfig, awaitReady: false }), stored.inputs);
    expect(await host.diff(stored, moved)).toMatchObject({ replaces: ['kubeconfig'], deleteBeforeReplace: true });
    await host.delete(stored);
  });

  test('names the pods that do not start, and the registration that does not come (T9)', async () => {
    workloads.held.add(agentNames.deployment);
    const held = await host.create(agent({ timeouts: { create: '2s' } }));
    workloads.held.clear();
    expect(held.initErrors?.[0]).toMatch(/TIMEOUT.*Deployment cattle-fleet-system\/fleet-agent.*stuck at/);
    await host.delete(held);

    const scripted = await ScriptedHub.start(client);
    scripted.script.cluster = () => ({
      conditions: [{ type: 'Registered', status: 'False', reason: 'WaitingForAgent', message: 'no request yet' }],
    });
    const cluster = await host.create(inputsOf('Cluster', { metadata: { name: 'west' }, clientID: 'me' }));
    const named = { cluster: { name: 'west', namespace: 'fleet-default' }, timeouts: { create: '2s' } };
    const stuck = await host.create(agent(named));
    expect(stuck.initErrors?.[0]).toMatch(/Cluster fleet-default\/west.*Registered is False \(WaitingForAgent\)/);
    expect(await client.find(Deployments, workload)).toBeDefined();
    await host.delete(stuck);
    await host.delete(cluster);
    await scripted.close();
  });

  test('refuses values that are no values, without quoting them (T1, T13)', async () => {
    const { failures } = await host.check(agent({ values: 'token: very-secret\n' }));
    expect(failures).toEqual([{ property: 'values', reason: expect.any(String) as string }]);
    expect(JSON.stringify(failures)).not.toContain('very-secret');
    expect(host.output).not.toContain('bootstrap-token');
  });
});
