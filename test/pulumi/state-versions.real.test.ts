import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Namespaces } from '../../api/kubernetes/core.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane } from '../harness/index.ts';
import { DynamicHost } from './dynamic-host.ts';
import type { StoredResource } from './dynamic-host.ts';
import { ScriptedHub } from './scripted-hub.ts';
import { ScriptedWorkloads, withoutDeployments } from './scripted-workloads.ts';

vi.setConfig({ testTimeout: 120_000 });

const fixtures = new URL('./fixtures/', import.meta.url);
let plane: ControlPlane;
let client: KubeClient;
let workloads: ScriptedWorkloads;
let host: DynamicHost;
let uid: string;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'hub', controllerManagerArgs: withoutDeployments });
  client = plane.client();
  uid = (await client.get(Namespaces, { name: 'kube-system' })).metadata.uid ?? '';
  workloads = new ScriptedWorkloads(client);
  host = await DynamicHost.start();
});
afterAll(async () => {
  await host?.close();
  await workloads?.close();
  await client?.close();
  await plane?.close();
});

/** The state as that version wrote it, with the kubeconfig and identity of this run's plane in it. */
function load(file: string): StoredResource {
  const text = readFileSync(new URL(file, fixtures), 'utf8');
  const filled = text.replaceAll('"KUBECONFIG"', JSON.stringify(plane.kubeconfig)).replaceAll('CLUSTER_UID', uid);
  return JSON.parse(filled) as StoredResource;
}

describe('states of every version that was ever released (T15)', () => {
  // The hub's kinds exist only after it: in this order, and back.
  const files = readdirSync(fixtures).sort(
    (a, b) => Number(b.startsWith('hub-release')) - Number(a.startsWith('hub-release')),
  );

  test.each(files)('%s can be read, compared, updated and deleted', async (file) => {
    const stored = load(file);
    await using _hub = file.startsWith('hub-release') ? undefined : await ScriptedHub.start(client);
    // Its object was removed by hand; the state is all that is left.
    expect(await host.read(stored)).toBeUndefined();
    expect(await host.diff(stored, stored.inputs)).toMatchObject({ replaces: [] });
    const updated = await host.update(stored, stored.inputs);
    expect(updated.initErrors).toBeUndefined();
    expect(await host.diff(updated, updated.inputs)).toMatchObject({ changes: 'none' });
    expect(await host.read(updated)).toMatchObject({ inputs: stored.inputs });
    await host.delete(updated);
    expect(await host.read(updated)).toBeUndefined();
  });

  test('one of a newer version is refused with what to do', async () => {
    const stored = load('cluster.v1.json');
    const newer = { ...stored, outputs: { ...stored.outputs, schemaVersion: 99 } };
    await expect(host.read(newer)).rejects.toThrow(/\[UNSUPPORTED\].*newer pulumi-muster.*Upgrade/);
    await expect(host.delete(newer)).rejects.toThrow('[UNSUPPORTED]');
  });
});
