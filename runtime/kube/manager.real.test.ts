import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlane, FaultProxy, poll } from '../../test/harness/index.ts';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces } from '../../api/kubernetes/core.ts';
import { Leases } from '../../api/kubernetes/workloads.ts';
import type { KubeClient } from './client.ts';
import { createController } from './controller.ts';
import { createClient } from './create-client.ts';
import { Events } from './event-object.ts';
import { createEventRecorder } from './events.ts';
import type { ManagerOptions } from './manager.ts';
import { createManager } from './manager.ts';
import { createMetrics } from './metrics.ts';

let plane: ControlPlane;
let proxy: FaultProxy;
let client: KubeClient;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'manager', controllerManager: false });
  proxy = await FaultProxy.start(plane);
  client = plane.client();
});

afterAll(async () => {
  await client.close();
  await proxy.close();
  await plane.close();
});

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

const ports = { probeAddress: '127.0.0.1:0', metricsAddress: '127.0.0.1:0' };

async function ask(address: string | undefined, path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://${address}${path}`);
  return { status: response.status, body: await response.text() };
}

/** A manager whose one controller upper-cases `data.text` of ConfigMaps into `data.upper`. */
function upperCaser(options: Partial<ManagerOptions> = {}) {
  const metrics = createMetrics();
  const manager = createManager({ client, metrics, component: 'upper-caser', ...ports, ...options });
  const configMaps = manager.cache(ConfigMaps, { namespace: 'default' });
  const order: string[] = [];
  const controller = createController({
    name: 'upper',
    reconcile: async (key, { signal }) => {
      const object = configMaps.get(key);
      const upper = object?.data?.['text']?.toUpperCase();
      if (object === undefined || upper === undefined || object.data?.['upper'] === upper) return;
      const wanted = { ...configMap(object.metadata.name ?? '', { upper }) };
      await manager.client.apply(ConfigMaps, wanted, { fieldManager: 'upper', signal });
      manager.events.event(object, 'Normal', 'UpperCased', `data.upper is ${upper}`);
    },
  });
  controller.watch(configMaps);
  manager.add(controller);
  manager.addRunnable({
    name: 'witness',
    run: (signal) =>
      new Promise((resolve) => {
        order.push('witness starts');
        signal.addEventListener('abort', () => {
          order.push('witness ends');
          resolve();
        });
      }),
  });
  const stopping = new AbortController();
  const ended = manager.run(stopping.signal);
  return { manager, metrics, order, ended, stop: () => stopping.abort(new Error('test over')) };
}

const upperOf = (name: string) => async (): Promise<string | undefined> =>
  (await client.find(ConfigMaps, { namespace: 'default', name }))?.data?.['upper'];

describe('a manager on a real API server', () => {
  it('reconciles, tells about itself, writes events, and stops in order', async () => {
    // given
    await client.create(ConfigMaps, configMap('hello', { text: 'hello' }));
    const leaderElection = { name: 'upper', namespace: 'default', identity: 'replica-1' };
    const { manager, order, ended, stop } = upperCaser({ leaderElection });

    // when
    expect(await poll(upperOf('hello'), { what: 'the reconcile' })).toBe('HELLO');

    // then
    expect(await ask(manager.addresses.probe, '/healthz')).toEqual({ status: 200, body: '[+]ping ok\nok\n' });
    expect((await ask(manager.addresses.probe, '/readyz')).status).toBe(200);
    expect((await ask(manager.addresses.probe, '/metrics')).status).toBe(404);
    const metrics = (await ask(manager.addresses.metrics, '/metrics')).body;
    expect(metrics).toContain('leader_election_master_status{name="upper"} 1');
    expect(metrics).toMatch(/controller_runtime_reconcile_total\{controller="upper",result="success"\} [1-9]/);
    stop();
    await ended;
    expect(order).toEqual(['witness starts', 'witness ends']);
    expect((await client.get(Leases, { namespace: 'default', name: 'upper' })).spec?.holderIdentity).toBe('');
    const { items } = await client.list(Events, { namespace: 'default', fieldSelector: 'reason=UpperCased' });
    expect(items).toMatchObject([
      {
        regarding: { kind: 'ConfigMap', name: 'hello' },
        note: 'data.upper is HELLO',
        reportingController: 'upper-caser',
      },
    ]);
    await expect(ask(manager.addresses.probe, '/healthz')).rejects.toThrow();
  });

  it('is not ready before its caches are, and says which', async () => {
    proxy.fail({ status: 500, match: { path: 'configmaps' } });
    const faulty = createClient({ server: proxy.server, ca: proxy.ca, token: plane.adminToken, contextName: 'p' });
    const { manager, ended, stop } = upperCaser({ client: faulty });
    await poll(() => manager.addresses.probe, { what: 'the port' });
    const { status, body } = await ask(manager.addresses.probe, '/readyz');
    expect([status, body]).toEqual([500, '[-]caches failed: not synced: configmaps\nnot ok\n']);
    proxy.clear();
    await poll(async () => (await ask(manager.addresses.probe, '/readyz')).status === 200 || undefined, {
      what: 'ready',
    });
    stop();
    await ended;
    await faulty.close();
  });

  it('ends when a part fails, with its error', async () => {
    const manager = createManager({ client });
    manager.addRunnable({ name: 'broken', run: () => Promise.reject(new Error('cannot go on')) });
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('cannot go on');
  });

  it('ends with an error when it loses its lease', async () => {
    const through = createClient({ server: proxy.server, ca: proxy.ca, token: plane.adminToken, contextName: 'p' });
    const fast = { leaseDurationMs: 1500, renewDeadlineMs: 800, retryMs: 100 };
    const leaderElection = { name: 'lost', namespace: 'default', identity: 'a', ...fast };
    const { manager, order, ended } = upperCaser({ client: through, leaderElection });
    await poll(() => manager.isLeader || undefined, { what: 'leading' });
    proxy.fail({ reset: 'before', match: { path: 'leases' } });
    await expect(ended).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(order).toEqual(['witness starts', 'witness ends']);
    proxy.clear();
    await through.close();
  });

  it('refuses a port that is taken', async () => {
    const first = upperCaser();
    const taken = await poll(() => first.manager.addresses.probe, { what: 'the port' });
    const second = upperCaser({ probeAddress: taken });
    await expect(second.ended).rejects.toMatchObject({ code: 'IN_USE', where: taken });
    first.stop();
    await first.ended;
  });

  it('shares a cache between those who ask for the same and starts late ones', async () => {
    const manager = createManager({ client });
    const first = manager.cache(ConfigMaps, { namespace: 'default', indexers: { a: () => ['x'] } });
    const second = manager.cache(ConfigMaps, { namespace: 'default', indexers: { b: () => ['y'] } });
    expect(second).toBe(first);
    expect(manager.cache(ConfigMaps, { namespace: 'kube-system' })).not.toBe(first);
    const stopping = new AbortController();
    const ended = manager.run(stopping.signal);
    await first.whenSynced();
    expect(first.byIndex('a', 'x').length).toBe(first.byIndex('b', 'y').length);
    const late = manager.cache(Namespaces);
    await late.whenSynced(AbortSignal.timeout(10_000));
    stopping.abort(new Error('test over'));
    await ended;
  });
});

describe('an event recorder on a real API server', () => {
  it('counts repeats in one series and holds back a flood', async () => {
    // given
    const object = await client.create(ConfigMaps, configMap('chatty'));
    const recorder = createEventRecorder(client, { component: 'test', instance: 'test-1' });

    // when
    for (let turn = 0; turn < 9; turn += 1) recorder.event(object, 'Warning', 'Again', 'the same each time');
    for (let turn = 0; turn < 40; turn += 1) recorder.event(object, 'Normal', 'Flood', `number ${turn}`);
    await recorder.flush();

    // then
    const { items } = await client.list(Events, { namespace: 'default' });
    const again = items.filter(({ reason }) => reason === 'Again');
    expect(again).toMatchObject([{ type: 'Warning', series: { count: 9 }, reportingInstance: 'test-1' }]);
    expect(items.filter(({ reason }) => reason === 'Flood')).toHaveLength(24);
  });

  it('writes about cluster-scoped objects in default, shortens, and keeps tokens out', async () => {
    const namespace = await client.get(Namespaces, { name: 'default' });
    const { token } = { token: `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(40)}` };
    const recorder = createEventRecorder(client, { component: 'test' });
    recorder.event(namespace, 'Normal', 'Long', `${token} ${'ä'.repeat(2000)}`);
    await recorder.flush();
    const { items } = await client.list(Events, { namespace: 'default', fieldSelector: 'reason=Long' });
    expect(items[0]?.note.startsWith('[redacted] ä')).toBe(true);
    expect(items[0]?.note.endsWith('ä…')).toBe(true);
  });

  it('makes an event anew when the API server has forgotten it, and drops what cannot be written', async () => {
    const object = await client.create(ConfigMaps, configMap('forgotten'));
    const recorder = createEventRecorder(client, { component: 'test' });
    recorder.event(object, 'Normal', 'Forgotten', 'x');
    await recorder.flush();
    const find = async (): Promise<{ name: string; count: number | undefined }[]> =>
      (await client.list(Events, { namespace: 'default', fieldSelector: 'reason=Forgotten' })).items.map((item) => ({
        name: item.metadata.name ?? '',
        count: item.series?.count,
      }));
    const [first] = await find();
    await client.delete(Events, { namespace: 'default', name: first?.name ?? '' });
    recorder.event(object, 'Normal', 'Forgotten', 'x');
    recorder.event({ ...object, metadata: { ...object.metadata, namespace: 'nowhere' } }, 'Normal', 'Lost', 'y');
    await recorder.flush();
    expect(await find()).toMatchObject([{ count: 2 }]);
  });

  it('stops writing when there is no more time', async () => {
    proxy.fail({ hang: true, match: { path: 'events' } });
    const through = createClient({ server: proxy.server, ca: proxy.ca, token: plane.adminToken, contextName: 'p' });
    const recorder = createEventRecorder(through, { component: 'test' });
    recorder.event(configMap('x'), 'Normal', 'Hanging', 'x');
    recorder.event(configMap('y'), 'Normal', 'Hanging', 'y');
    await recorder.flush(AbortSignal.timeout(50));
    expect(proxy.count({ path: 'events' })).toBeLessThanOrEqual(1);
    proxy.clear();
    await through.close();
  });
});
