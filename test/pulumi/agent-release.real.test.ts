import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentNames, annotations, secretNames } from '../../api/fleet/constants.ts';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { Namespaces, Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { ClusterRoles } from '../../api/kubernetes/rbac.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import type { KubeObject } from '../../api/resource.ts';
import { resourceTypeOf } from '../../components/fleet/index.ts';
import type { Props } from '../../provider/handler.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import type { ClientConfig } from '../../runtime/kube/client-config.ts';
import { createClient } from '../../runtime/kube/create-client.ts';
import { formatKubeconfig } from '../../runtime/kube/kubeconfig.ts';
import { lasts } from '../../runtime/registration/credential.ts';
import { kubeconfigIn } from '../../runtime/registration/kubeconfig-secret.ts';
import { ControlPlane } from '../harness/index.ts';
import { leftOver, takeInventory } from '../harness/inventory.ts';
import { inputsOf } from './dynamic-host.ts';
import { releaseSetUp } from './release-set-up.ts';
import { ScriptedHub } from './scripted-hub.ts';

const system = 'cattle-fleet-system';
const image = 'example.test/muster:1';

const up = releaseSetUp();
let { plane, client, workloads, host } = up;
let other: ControlPlane;

beforeAll(async () => {
  ({ plane, client, workloads, host } = up);
  other = await ControlPlane.start({ name: 'other', controllerManager: false });
});
afterAll(() => other?.close());

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

  test("leaves Fleet's agent a token that lasts in place of one of ours, of the same account, and says where it cannot", async () => {
    const metadata = { namespace: system, name: secretNames.agent };
    const account = { namespace: 'default', name: 'request-me' };
    await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
    const given = (await client.createToken(account, { expirationSeconds: 90 * 86_400 })).token;
    const kubeconfig = formatKubeconfig({ server: plane.server, ca: plane.ca, token: given, namespace: 'default' });
    const stored = async () => {
      const { data = {}, ...secret } = await client.get(Secrets, metadata);
      return { uid: secret.metadata.uid, data, config: kubeconfigIn({ ...secret, data }, 'kubeconfig') };
    };
    const ours = await host.create(agent());
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: {
        kubeconfig: Buffer.from(kubeconfig).toString('base64'),
        clusterName: Buffer.from('me').toString('base64'),
      },
    });
    const before = await stored();

    // another hub is named: it does not know the account
    const fleets = (more: Props = {}) => agent({ image: 'rancher/fleet-agent:v0.16.1', ...more });
    const elsewhere = await host.update(ours, fleets({ hub: { kubeconfig: other.kubeconfig } }));
    expect(elsewhere.initErrors).toBeUndefined();
    expect((await stored()).config?.token).toBe(given);
    expect(host.output).toMatch(/warning: Secret cattle-fleet-system\/fleet-agent: .*ends at 20.*\[NOT_FOUND\]/);

    const theirs = await host.update(elsewhere, fleets({ redeploy: 1 }));
    expect(theirs.initErrors).toBeUndefined();
    const { uid, data, config } = await stored();
    expect(uid).toBe(before.uid);
    expect(data).toEqual({ ...before.data, kubeconfig: data['kubeconfig'] });
    expect(config).toEqual({ ...before.config, token: config?.token });
    expect(lasts(config?.token ?? '', Date.now())).toBe(true);
    const known = createClient(config as ClientConfig);
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    expect(
      await known.raw('/apis/authentication.k8s.io/v1/selfsubjectreviews', { method: 'POST', body: review }),
    ).toMatchObject({ status: { userInfo: { username: 'system:serviceaccount:default:request-me' } } });
    await known.close();

    // one that lasts stays as it is
    const again = await host.update(theirs, fleets({ redeploy: 2 }));
    expect(again.initErrors).toBeUndefined();
    expect((await stored()).config?.token).toBe(config?.token);
    expect(host.output).not.toContain(given);
    await host.delete(again);
    await client.delete(ServiceAccounts, account);
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
