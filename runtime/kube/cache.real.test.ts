import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ControlPlane, FaultProxy, poll } from '../../test/harness/index.ts';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces } from '../../api/kubernetes/core.ts';
import { keyOf } from '../../api/resource.ts';
import type { Cache, CacheEvent, CacheOptions } from './cache.ts';
import { createCache } from './cache.ts';
import type { KubeClient } from './client.ts';
import { createClient } from './create-client.ts';
import { createMetrics } from './metrics.ts';

let plane: ControlPlane;
let proxy: FaultProxy;
/** Straight to the API server: makes the changes. */
let admin: KubeClient;
/** Through the proxy: feeds the cache. */
let client: KubeClient;
let namespace: string;
let stop: AbortController;
let running: Promise<void>[];
let namespaces = 0;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'cache', controllerManager: false });
  proxy = await FaultProxy.start(plane);
  admin = plane.client();
  client = createClient({ server: proxy.server, ca: proxy.ca, token: plane.adminToken, contextName: 'proxy' });
});

afterAll(async () => {
  await Promise.all([admin.close(), client.close()]);
  await proxy.close();
  await plane.close();
});

beforeEach(async () => {
  namespace = `cache-${(namespaces += 1)}`;
  await admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  stop = new AbortController();
  running = [];
});

afterEach(async () => {
  proxy.clear();
  stop.abort(new Error('test over'));
  await Promise.all(running);
});

const set = (
  name: string,
  data: Record<string, string> = {},
  labels: Record<string, string> = {},
): Promise<ConfigMap> =>
  admin.apply(
    ConfigMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data },
    { fieldManager: 'test' },
  );

const remove = (name: string): Promise<void> => admin.delete(ConfigMaps, { namespace, name });

async function start(options: CacheOptions<ConfigMap> = {}): Promise<{ cache: Cache<ConfigMap>; events: string[] }> {
  const cache = createCache(client, ConfigMaps, { namespace, ...options });
  const events: string[] = [];
  cache.subscribe((event: CacheEvent<ConfigMap>) =>
    events.push(`${event.initial ? 'initial ' : ''}${event.type} ${event.object.metadata.name ?? ''}`),
  );
  running.push(cache.start(stop.signal));
  await cache.whenSynced(AbortSignal.timeout(10_000));
  return { cache, events };
}

const until = (holds: () => boolean, what: string): Promise<unknown> =>
  poll(() => holds() || undefined, { what, limitMs: 20_000 });

describe('a cache of a real API server', () => {
  it('takes in what is there and then every change, frozen and without managedFields', async () => {
    // given
    await set('old', { a: '1' });

    // when
    const { cache, events } = await start();
    await set('new');
    await set('old', { a: '2' });
    await remove('new');
    await until(() => events.length === 4, 'four events');

    // then
    expect(events).toEqual(['initial added old', 'added new', 'updated old', 'deleted new']);
    const old = cache.get(`${namespace}/old`);
    expect(old?.data).toEqual({ a: '2' });
    expect(old?.metadata.managedFields).toBeUndefined();
    expect(() => {
      (old?.data ?? {})['a'] = '3';
    }).toThrow(TypeError);
    expect(cache.list(namespace).map(keyOf)).toEqual([`${namespace}/old`]);
    expect(cache.list('elsewhere')).toEqual([]);
  });

  it('finds objects by index, also by one that was added later, and forgets their old values', async () => {
    // given
    await set('a', { colour: 'red' });
    await set('b', { colour: 'red' });
    const byColour = { colour: (object: ConfigMap) => [object.data?.['colour'] ?? 'none'] };
    const { cache } = await start({ indexers: byColour });

    // when
    await set('b', { colour: 'blue' });
    await until(() => cache.byIndex('colour', 'blue').length === 1, 'b turns blue');
    cache.addIndexers({ initial: (object) => [object.metadata.name?.[0] ?? ''] });

    // then
    expect(cache.byIndex('colour', 'red').map(keyOf)).toEqual([`${namespace}/a`]);
    expect(cache.byIndex('initial', 'b').map(keyOf)).toEqual([`${namespace}/b`]);
    expect(() => cache.byIndex('nope', 'x')).toThrow('there is no such index');
  });

  it('keeps only what the selector matches and shrinks it', async () => {
    await set('in', { big: 'x' }, { tier: 'gold' });
    await set('out', {}, { tier: 'tin' });
    const { cache, events } = await start({
      labelSelector: 'tier=gold',
      transform: ({ data: _data, ...rest }) => rest,
    });
    await set('in', { big: 'x' }, { tier: 'tin' });
    await until(() => events.length === 2, 'the object leaves the selection');
    expect(events).toEqual(['initial added in', 'deleted in']);
    expect(cache.list()).toEqual([]);
  });

  it('gives a late subscriber what is there, and survives handlers that throw', async () => {
    // given
    await set('a');
    const metrics = createMetrics();
    const { cache, events } = await start({ metrics });
    const late: string[] = [];

    // when
    cache.subscribe(() => {
      throw new Error('a handler is broken');
    });
    const unsubscribe = cache.subscribe((event) => late.push(`${event.initial} ${event.type}`));
    await set('b');
    await until(() => events.length === 2, 'b');
    unsubscribe();
    await remove('b');
    await until(() => events.length === 3, 'b goes');

    // then
    expect(late).toEqual(['true added', 'false added']);
    const text = await metrics.text();
    expect(text).toContain('muster_cache_handler_errors_total{kind="ConfigMap"} 3');
    expect(text).toContain('muster_cache_objects{kind="ConfigMap"} 1');
  });

  it('goes on from where it was when the connection is reset', async () => {
    const { events } = await start();
    const lists = proxy.count({ path: `${namespace}/configmaps`, watch: false });
    await set('before');
    await until(() => events.length === 1, 'an event before the reset');
    proxy.dropAll();
    await set('after');
    await until(() => events.length === 2, 'an event after the reset');
    expect(events).toEqual(['added before', 'added after']);
    expect(proxy.count({ path: `${namespace}/configmaps`, watch: false })).toBe(lists);
  });

  it('notices a half-open watch by its silence', async () => {
    proxy.fail({ halfOpenWatch: true, match: { watch: true, path: namespace }, times: 1 });
    const metrics = createMetrics();
    const { events } = await start({ inactivityMs: 300, metrics });
    await set('unseen');
    await until(() => events.length === 1, 'the event that the silent watch held back');
    expect(await metrics.text()).toContain('muster_watch_failures_total{kind="ConfigMap",cause="inactive"}');
  });

  it('lists again after 410 and tells what happened meanwhile, deletions and remakes included', async () => {
    // given
    await Promise.all([set('stays'), set('changes', { a: '1' }), set('goes'), set('remade')]);
    const { cache, events } = await start();
    events.length = 0;

    // when
    proxy.fail({ status: 500, match: { watch: true, path: namespace } });
    proxy.dropAll();
    await until(() => cache.failure !== undefined, 'the watch is down');
    await Promise.all([set('changes', { a: '2' }), remove('goes'), remove('remade'), set('comes')]);
    await set('remade');
    proxy.clear();
    proxy.fail({ status: 410, match: { watch: true, path: namespace }, times: 1 });
    await until(() => events.length === 5, 'five events');

    // then
    const sorted = ['added comes', 'added remade', 'deleted goes', 'deleted remade', 'updated changes'];
    expect([...events].sort()).toEqual(sorted);
    expect(events.indexOf('deleted remade')).toBeLessThan(events.indexOf('added remade'));
    await until(() => cache.failure === undefined, 'the watch is back');
  });

  it.each([
    ['500', { status: 500 }],
    ['429 without a wait', { status: 429, retryAfter: 0 }],
    ['a reset', { reset: 'before' }],
    ['slowness', { slowMs: 300 }],
  ] as const)('syncs in spite of %s', async (_name, fault) => {
    await set('there');
    proxy.fail({ ...fault, match: { path: namespace }, times: 3 });
    const { events } = await start();
    expect(events).toEqual(['initial added there']);
  });

  it('misses nothing while the connection is cut a hundred times', async () => {
    // given
    const names = Array.from({ length: 12 }, (_, index) => `chaos-${index}`);
    const mirror = new Map<string, string>();
    const broken: string[] = [];
    const { cache } = await start();
    cache.subscribe(({ type, object, previous }) => {
      const key = keyOf(object);
      const known = mirror.get(key);
      if ((type === 'added') !== (known === undefined)) broken.push(`${type} ${key}`);
      if (type === 'updated' && previous?.metadata.resourceVersion !== known)
        broken.push(`updated ${key}: wrong previous`);
      if (type === 'deleted') mirror.delete(key);
      else mirror.set(key, object.metadata.resourceVersion ?? '');
    });

    // when: two writers and a cutter, none of which waits for the cache
    let cuts = 0;
    let cutting = true;
    const write = async (seed: number): Promise<void> => {
      for (let turn = 0; cutting; turn += 1) {
        const name = names[(turn * 7 + seed) % names.length] ?? '';
        if (turn % 5 === 4) await remove(name);
        else await set(name, { turn: `${seed}-${turn}` });
      }
    };
    const cut = async (): Promise<void> => {
      for (; cuts < 100; cuts += 1) {
        if (cuts % 10 === 3) proxy.fail({ status: 410, match: { watch: true, path: namespace }, times: 1 });
        if (cuts % 10 === 7) proxy.fail({ status: 500, match: { path: namespace }, times: 1 });
        const seen = proxy.count({ watch: true, path: namespace });
        proxy.dropAll();
        await until(() => proxy.count({ watch: true, path: namespace }) > seen, 'the watch comes back');
      }
    };
    await Promise.all([write(0), write(1), cut().finally(() => (cutting = false))]);

    // then
    const { items } = await admin.list(ConfigMaps, { namespace });
    const wanted = new Map(items.map((item) => [keyOf(item), item.metadata.resourceVersion ?? '']));
    await until(() => JSON.stringify([...mirror].sort()) === JSON.stringify([...wanted].sort()), 'the mirror is exact');
    expect(broken).toEqual([]);
    expect(new Set(cache.list().map(keyOf))).toEqual(new Set(wanted.keys()));
  }, 120_000);

  it('comes back by itself when the API server is restarted', async () => {
    const { events } = await start();
    await plane.restart('kube-apiserver');
    await set('after-restart');
    await until(() => events.length === 1, 'the event after the restart');
    expect(events).toEqual(['added after-restart']);
  });

  it('stops waiting for the first list when told to', async () => {
    const cache = createCache(client, ConfigMaps, { namespace });
    const reason = new Error('not waiting');
    await expect(cache.whenSynced(AbortSignal.abort(reason))).rejects.toBe(reason);
    const later = new AbortController();
    const waiting = cache.whenSynced(later.signal);
    later.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
