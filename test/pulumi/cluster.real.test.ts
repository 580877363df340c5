import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { annotations } from '../../api/fleet/constants.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { unknownValue } from '../../provider/unknowns.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane } from '../harness/index.ts';
import { DynamicHost, inputsOf } from './dynamic-host.ts';
import { readyStatus, ScriptedHub } from './scripted-hub.ts';

let plane: ControlPlane;
let client: KubeClient;
let hub: ScriptedHub;
let host: DynamicHost;
let count = 0;
let name = '';

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'hub' });
  client = plane.client();
  hub = await ScriptedHub.start(client);
  host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': plane.kubeconfig } });
});
afterAll(async () => {
  await host?.close();
  await hub?.close();
  await client?.close();
  await plane?.close();
});
beforeEach(() => {
  name = `east-${++count}`;
  Object.assign(hub.script, { cluster: readyStatus, tokens: true, release: true });
});

const key = () => ({ namespace: 'fleet-default', name });
const byKubeconfig = (more: object = {}) =>
  inputsOf('Cluster', { metadata: { name }, kubeconfig: plane.kubeconfig, ...more });

describe('a Cluster with a kubeconfig', () => {
  test('is created, awaited, stays without changes, and is deleted with its Secret', async () => {
    const stored = await host.create(byKubeconfig({ metadata: { name, labels: { env: 'dev' } } }));

    expect(stored.initErrors).toBeUndefined();
    expect(stored.id).toBe(`fleet-default/${name}`);
    expect(stored.outputs).toMatchObject({
      ready: true,
      namespace: clusterNamespace('fleet-default', name),
      schemaVersion: 1,
    });
    const secret = await client.get(Secrets, { namespace: 'fleet-default', name: `${name}-kubeconfig` });
    expect(Buffer.from(secret.data?.['value'] ?? '', 'base64').toString()).toBe(plane.kubeconfig);
    expect(await host.diff(stored, stored.inputs)).toMatchObject({ changes: 'none', replaces: [] });

    await host.delete(stored);
    expect(await client.find(Clusters, key())).toBeUndefined();
    expect(await client.find(Secrets, { namespace: 'fleet-default', name: `${name}-kubeconfig` })).toBeUndefined();
    await host.delete(stored);
    void annotations;
    void unknownValue;
  });
});
