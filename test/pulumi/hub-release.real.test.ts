import { beforeAll, describe, expect, test } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import { ConfigMaps, Namespaces } from '../../api/kubernetes/core.ts';
import { ClusterRoles } from '../../api/kubernetes/rbac.ts';
import { CustomResourceDefinitions, Deployments } from '../../api/kubernetes/workloads.ts';
import type { Props } from '../../provider/handler.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import { isNotFound } from '../../runtime/kube/api-error.ts';
import { leftOver, takeInventory } from '../harness/inventory.ts';
import { inputsOf } from './dynamic-host.ts';
import { releaseSetUp } from './release-set-up.ts';
import { ScriptedHub } from './scripted-hub.ts';

const system = 'cattle-fleet-system';
const image = 'example.test/muster:1';

const up = releaseSetUp();
let { plane, client, workloads, host } = up;
beforeAll(() => ({ plane, client, workloads, host } = up));

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
