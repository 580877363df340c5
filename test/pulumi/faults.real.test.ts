import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { Authority, ControlPlane, FaultProxy } from '../harness/index.ts';
import { DynamicHost, inputsOf } from './dynamic-host.ts';
import { readyStatus, ScriptedHub } from './scripted-hub.ts';

vi.setConfig({ testTimeout: 120_000 });

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
  host = await DynamicHost.start();
});
afterAll(async () => {
  await host?.close();
  await hub?.close();
  await client?.close();
  await plane?.close();
});
beforeEach(() => {
  hub.script.cluster = readyStatus;
  name = `east-${++count}`;
});

const key = () => ({ namespace: 'fleet-default', name });
const byKubeconfig = (kubeconfig: string, more: object = {}) =>
  inputsOf('Cluster', { metadata: { name }, kubeconfig: plane.kubeconfig, hub: { kubeconfig }, ...more });

describe('a hub that cannot be used is told by code, and no secret with it', () => {
  const token = 'secret-token-of-this-test';

  test('with a certificate of another authority', async () => {
    const { cert } = Authority.create('another');
    const call = host.create(byKubeconfig(plane.kubeconfigFor({ token }, { ca: cert })));
    await expect(call).rejects.toThrow('[TLS_UNTRUSTED]');
    expect(host.output).not.toContain(token);
  });

  test('with a token that is not valid', async () => {
    const failure = await host.create(byKubeconfig(plane.kubeconfigFor({ token }))).catch(String);
    expect(failure).toContain('[UNAUTHORIZED]');
    expect(failure).not.toContain(token);
  });

  test('that refuses the connection', async () => {
    const kubeconfig = plane.kubeconfigFor({ token }, { server: 'https://127.0.0.1:1' });
    await expect(host.create(byKubeconfig(kubeconfig))).rejects.toThrow('[UNREACHABLE]');
  });

  test('that hangs', async () => {
    await using proxy = await FaultProxy.start(plane);
    proxy.fail({ hang: true });
    const kubeconfig = plane.kubeconfigFor({ token }, proxy);
    const call = host.create(byKubeconfig(kubeconfig, { timeouts: { create: '2s' } }));
    await expect(call).rejects.toThrow(/\[TIMEOUT\].*timeouts.create/);
  });

  test('that answers HTML', async () => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<html>Welcome</html>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const kubeconfig = plane.kubeconfigFor({ token }, { server: `http://127.0.0.1:${port}` });
    await expect(host.create(byKubeconfig(kubeconfig))).rejects.toThrow('[NOT_KUBERNETES]');
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a run that breaks', () => {
  test('by a connection that is lost after the write goes on and makes nothing twice (T8)', async () => {
    await using proxy = await FaultProxy.start(plane);
    proxy.fail({ reset: 'after', match: { method: 'PATCH', path: '/clusters/' }, times: 1 });
    const stored = await host.create(byKubeconfig(plane.kubeconfigFor({ token: plane.adminToken }, proxy)));
    const { uid } = (await client.get(Clusters, key())).metadata;
    const settled = stored.initErrors === undefined ? stored : await host.update(stored, stored.inputs);
    expect(settled.outputs).toMatchObject({ ready: true, uid });
    await host.delete({ ...settled, outputs: { ...settled.outputs, hub: { kubeconfig: plane.kubeconfig } } });
  });

  test('by watches that are cut off is not noticed', async () => {
    await using proxy = await FaultProxy.start(plane);
    proxy.fail({ reset: 'before', match: { watch: true }, times: 3 });
    hub.script.cluster = () => ({ conditions: [{ type: 'Processed', status: 'True' }] });
    const creating = host.create(byKubeconfig(plane.kubeconfigFor({ token: plane.adminToken }, proxy)));
    await vi.waitUntil(() => proxy.requests.filter(({ path }) => path.includes('watch=')).length > 3, {
      timeout: 20_000,
    });
    hub.script.cluster = readyStatus;
    await hub.again();
    const stored = await creating;
    expect(stored.outputs).toMatchObject({ ready: true });
    await host.delete({ ...stored, outputs: { ...stored.outputs, hub: { kubeconfig: plane.kubeconfig } } });
  });

  test('by the end of the process leaves what the next run adopts (T19)', async () => {
    hub.script.cluster = () => ({ conditions: [{ type: 'Processed', status: 'True' }] });
    const doomed = await DynamicHost.start();
    const lost = doomed.create(byKubeconfig(plane.kubeconfig)).catch(String);
    await vi.waitUntil(async () => (await client.find(Clusters, key())) !== undefined, { timeout: 20_000 });
    const { uid } = (await client.get(Clusters, key())).metadata;
    await doomed.close();
    await lost;

    hub.script.cluster = readyStatus;
    await hub.again();
    const stored = await host.create(byKubeconfig(plane.kubeconfig));
    expect(stored.outputs).toMatchObject({ ready: true, uid });
    await host.delete(stored);
  });
});

test('a directory without the package is told as such, with what to do (T14)', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-empty-'));
  const empty = await DynamicHost.start({ cwd: folder });
  await expect(empty.check(byKubeconfig(plane.kubeconfig))).rejects.toThrow(
    /\[UNSUPPORTED\] npm install pulumi-muster in .*muster-empty-/,
  );
  await empty.close();
  rmSync(folder, { recursive: true });
});
