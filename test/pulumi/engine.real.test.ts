import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { agentNames } from '../../api/fleet/constants.ts';
import { ClusterGroups, Clusters } from '../../api/fleet/kinds.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import type { KubeObject } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { pulumiEnvironment } from '../../tools/index.ts';
import { ControlPlane } from '../harness/index.ts';
import { PulumiEngine } from '../harness/pulumi-engine.ts';
import { readyStatus, ScriptedHub } from './scripted-hub.ts';
import { ScriptedWorkloads, withoutDeployments } from './scripted-workloads.ts';

// Each run of the engine takes seconds, more beside other tests.
vi.setConfig({ testTimeout: 180_000 });

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** Of the Cluster of this test. */
let key = { namespace: 'fleet-default', name: '' };
let count = 0;

let plane: ControlPlane;
let other: ControlPlane;
let client: KubeClient;
let hub: ScriptedHub;
let workloads: ScriptedWorkloads;
let environment: Record<string, string>;
let engine: PulumiEngine | undefined;

beforeAll(async () => {
  [plane, other] = await Promise.all([
    ControlPlane.start({ name: 'hub', controllerManagerArgs: withoutDeployments }),
    ControlPlane.start({ name: 'other', controllerManager: false }),
  ]);
  client = plane.client();
  hub = await ScriptedHub.start(client);
  workloads = new ScriptedWorkloads(client);
  environment = { ...(await pulumiEnvironment()), PULUMI_CONFIG_PASSPHRASE: 'test' };
}, 180_000);
beforeEach(() => {
  key = { namespace: 'fleet-default', name: `east-${++count}` };
});
afterEach(async () => {
  hub.script.cluster = readyStatus;
  await engine?.close();
  engine = undefined;
});
afterAll(async () => {
  await workloads?.close();
  await hub?.close();
  await client?.close();
  await Promise.all([plane?.close(), other?.close()]);
});

async function start(project: string, config: Readonly<Record<string, string>>): Promise<PulumiEngine> {
  engine = await PulumiEngine.create({ project: folder(project), env: environment });
  await engine.configure('muster:hubKubeconfig', plane.kubeconfig, { secret: true });
  await engine.configure('name', key.name);
  for (const [name, value] of Object.entries(config)) {
    await engine.configure(name, value, { secret: name === 'kubeconfig' || name === 'values' });
  }
  return engine;
}

describe('on the real engine', () => {
  test('a wait that fails keeps the resource and says why; the next run goes on from there (T8, T9)', async () => {
    hub.script.cluster = () => ({
      conditions: [{ type: 'Imported', status: 'False', reason: 'ClusterUnreachable', message: 'connection refused' }],
    });
    const stack = await start('programs/lifecycle', { kubeconfig: plane.kubeconfig, patience: '2s' });
    const failed: unknown = await stack.up().catch((error: unknown) => error);
    expect(String(failed)).toContain('stuck at: Imported is False (ClusterUnreachable): connection refused');
    const { uid } = (await client.get(Clusters, key)).metadata;
    expect(await stack.storedState()).toContain('initErrors');
    expect(await stack.storedState()).not.toContain(plane.adminToken);

    hub.script.cluster = readyStatus;
    await hub.again();
    await stack.configure('patience', '60s');
    await stack.up();
    expect(await stack.outputs()).toMatchObject({ uid, ready: true });
    await stack.preview('--expect-no-changes');
    await stack.destroy();
    expect(await client.find(Clusters, key)).toBeUndefined();
  });

  test('a rotated kubeconfig is an update, another cluster a replacement; neither leaks (T6, T13)', async () => {
    const stack = await start('programs/lifecycle', { kubeconfig: plane.kubeconfig });
    await stack.up();
    const { uid } = (await client.get(Clusters, key)).metadata;
    const pair = plane.issueClientCertificate('rotated', ['system:masters']);
    // `pulumi config set` drops the line end.
    const rotated = plane.kubeconfigFor(pair).trimEnd();
    await stack.configure('kubeconfig', rotated, { secret: true });
    const preview = await stack.preview('--diff');
    expect(preview.output).toContain('[secret]');
    expect(preview.output).toMatch(/~ 1 to update/);
    await stack.up();
    expect((await client.get(Clusters, key)).metadata.uid).toBe(uid);
    const stored = await client.get(Secrets, { ...key, name: `${key.name}-kubeconfig` });
    expect(Buffer.from(stored.data?.['value'] ?? '', 'base64').toString()).toBe(rotated);

    await stack.configure('kubeconfig', other.kubeconfig, { secret: true });
    expect((await stack.preview()).output).toMatch(/1 to replace/);
    await stack.up();
    expect((await client.get(Clusters, key)).metadata.uid).not.toBe(uid);
    for (const secret of [plane.adminToken, other.adminToken, Buffer.from(pair.key).toString('base64'), pair.key]) {
      expect(await stack.storedState()).not.toContain(secret);
    }
    await stack.destroy();
  });

  test('an edit by hand is one line of a refresh, and the next update takes it back (T12)', async () => {
    const stack = await start('programs/lifecycle', { kubeconfig: plane.kubeconfig });
    await stack.up();
    await client.patch(Clusters, key, { metadata: { labels: { env: 'edited' } } }, { type: 'merge' });
    expect((await stack.refresh()).output).toMatch(/~ 1 updated/);
    expect((await stack.preview()).output).toMatch(/~ 1 to update/);
    await stack.up();
    expect((await client.get(Clusters, key)).metadata.labels).toEqual({ env: 'dev' });
    await stack.preview('--expect-no-changes');

    await client.delete(Clusters, key);
    await vi.waitUntil(async () => (await client.find(Clusters, key)) === undefined, { timeout: 20_000 });
    expect((await stack.refresh()).output).toMatch(/- 1 deleted/);
    await stack.up();
    expect(await client.find(Clusters, key)).toBeDefined();
    await stack.destroy();
  });

  test('ignoreChanges, protect, aliases, parent and retainOnDelete pass through (T21)', async () => {
    const values = formatValues({
      clusterNamespace: 'fleet-default',
      apiServerURL: plane.server,
      apiServerCA: '',
      token: 'bootstrap-token-of-this-test',
      tokenName: 'stores',
      systemRegistrationNamespace: 'cattle-fleet-clusters-system',
    });
    const stack = await start('programs/lifecycle', { kubeconfig: plane.kubeconfig, values, agent: 'true' });
    await stack.up();
    const { uid } = (await client.get(Clusters, key)).metadata;

    await stack.configure('env', 'prod');
    await stack.configure('ignoreLabels', 'true');
    await stack.configure('protect', 'true');
    await stack.up();
    expect((await client.get(Clusters, key)).metadata.labels).toEqual({ env: 'dev' });
    expect(String(await stack.destroy().catch((error: unknown) => error))).toContain('protected');
    expect((await client.get(Clusters, key)).metadata.uid).toBe(uid);

    await stack.configure('protect', 'false');
    await stack.configure('before', 'east');
    await stack.configure('called', 'renamed');
    await stack.up();
    expect((await client.get(Clusters, key)).metadata.uid).toBe(uid);
    expect(await stack.storedState()).not.toContain('bootstrap-token-of-this-test');

    await stack.destroy();
    const agent = { namespace: 'cattle-fleet-system', name: agentNames.deployment };
    expect(await client.find(Deployments, agent)).toBeDefined();
    expect(await client.find(Clusters, key)).toBeUndefined();
  });

  test('an import by id is refused with a reason', async () => {
    const stack = await start('programs/lifecycle', { kubeconfig: plane.kubeconfig });
    const args = ['import', 'pulumi-nodejs:dynamic/muster/fleet:Cluster', 'east', 'fleet-default/east', '--yes'];
    await expect(stack.run([...args, '--stack', stack.stack, '--non-interactive'])).rejects.toThrow();
    await stack.destroy();
  });
});

describe('the small examples', () => {
  test('existing-hub previews and registers', async () => {
    const stack = await start('../../examples/existing-hub', { kubeconfig: other.kubeconfig });
    expect((await stack.preview()).output).toMatch(/\+ 2 to create/);
    await stack.up();
    expect(await stack.outputs()).toMatchObject({ ready: true });
    await stack.destroy();
  });

  test('out-of-reach renders an agent that comes out of cloud-init, and counts the group', async () => {
    const group = `group-${key.name}`;
    hub.script.cluster = () => undefined;
    hub.script.group = () => ({ clusterCount: 1, nonReadyClusterCount: 1, nonReadyClusters: [key.name] });
    const stack = await start('../../examples/out-of-reach', { group });
    expect((await stack.preview()).output).toMatch(/\+ 6 to create/);
    await stack.up();
    const outputs = await stack.outputs();
    expect(outputs).toMatchObject({ userData: '[secret]', clusters: 1 });
    const userData = String((await stack.outputs({ showSecrets: true }))['userData']);
    expect(userData.startsWith('#cloud-config\n')).toBe(true);
    const { write_files: files } = parse(userData) as { write_files: { content: string; permissions: string }[] };
    const objects = parseAllDocuments(files[0]?.content ?? '').map((document) => document.toJS() as KubeObject);
    const workload = objects.find(({ kind }) => kind === 'Deployment');
    expect(workload?.metadata.name).toBe(agentNames.deployment);
    const token = hub.issued.at(-1) ?? '';
    const secret = objects.find(({ kind }) => kind === 'Secret') as Secret | undefined;
    expect(Buffer.from(secret?.data?.['token'] ?? '', 'base64').toString()).toBe(token);
    const { spec } = await client.get(Clusters, key);
    expect(JSON.stringify(objects)).toContain(spec?.clientID);
    const state = await stack.storedState();
    expect(state).not.toContain(token);
    expect(state).not.toContain(Buffer.from(token).toString('base64'));
    await stack.preview('--expect-no-changes');
    expect((await client.get(ClusterGroups, { ...key, name: group })).spec?.selector).toEqual({
      matchLabels: { tier: 'edge' },
    });
    await stack.destroy();
    expect(await client.find(Clusters, key)).toBeUndefined();
    expect(await client.find(ClusterGroups, { ...key, name: group })).toBeUndefined();
  });

  test('token-only gives the values as a secret', async () => {
    const stack = await start('../../examples/token-only', { ttl: '1h' });
    expect((await stack.preview()).output).toMatch(/\+ 2 to create/);
    await stack.up();
    expect(await stack.outputs()).toMatchObject({ values: '[secret]' });
    expect(String((await stack.outputs({ showSecrets: true }))['values'])).toContain(hub.issued.at(-1));
    expect(await stack.storedState()).not.toContain(hub.issued.at(-1));
    await stack.destroy();
  });
});
