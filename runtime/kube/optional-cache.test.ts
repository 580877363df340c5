import { afterEach, describe, expect, it } from 'vitest';
import type { CustomResourceDefinition } from '../../api/kubernetes/workloads.ts';
import { CustomResourceDefinitions } from '../../api/kubernetes/workloads.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import { ApiError } from './api-error.ts';
import type { KubeClient, ListResult, WatchEvent, WatchOptions } from './client.ts';
import type { OptionalCache } from './optional-cache.ts';
import { createOptionalCache } from './optional-cache.ts';

const kind = { group: 'example.com', kind: 'Thing', plural: 'things', namespaced: true } as const;
const v2: ResourceType = { ...kind, version: 'v2' };
const v1: ResourceType = { ...kind, version: 'v1' };

/** An API server of one kind: what is not served answers 404. */
class Server {
  readonly objects = new Map<string, KubeObject>();
  definition: CustomResourceDefinition | undefined;
  readonly lists: string[] = [];
  #version = 1;
  #watches = new Set<{ plural: string; push: (event: WatchEvent<KubeObject>) => void }>();

  client(): KubeClient {
    const client: Partial<KubeClient> = {
      list: <T extends KubeObject>(type: ResourceType<T>): Promise<ListResult<T>> => Promise.resolve(this.#list(type)),
      watch: <T extends KubeObject>(type: ResourceType<T>, { signal }: WatchOptions) =>
        this.#watch(type, signal) as AsyncIterable<WatchEvent<T>>,
    };
    return client as KubeClient;
  }

  serve(...versions: string[]): void {
    const type = this.definition === undefined ? 'ADDED' : 'MODIFIED';
    this.definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com', uid: 'crd', resourceVersion: String(++this.#version) },
      spec: { versions: versions.map((name) => ({ name, served: true, schema: { big: true } })) },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    };
    this.#tell('customresourcedefinitions', { type, object: structuredClone(this.definition) });
  }

  withdraw(): void {
    const { definition } = this;
    if (definition === undefined) return;
    this.definition = undefined;
    this.objects.clear();
    const metadata = { ...definition.metadata, resourceVersion: String(++this.#version) };
    this.#tell('customresourcedefinitions', { type: 'DELETED', object: { ...definition, metadata } });
  }

  put(name: string): void {
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: String(++this.#version) },
    };
    this.objects.set(keyOf(object), object);
    this.#tell('things', { type: 'ADDED', object: structuredClone(object) });
  }

  #list<T extends KubeObject>(type: ResourceType<T>): ListResult<T> {
    const definitions = type.plural === CustomResourceDefinitions.plural;
    this.lists.push(`${type.plural}/${type.version}`);
    const served = (this.definition?.spec['versions'] ?? []) as { name: string }[];
    if (!definitions && !served.some(({ name }) => name === type.version)) throw notFound();
    const items = definitions ? [this.definition].filter((one) => one !== undefined) : [...this.objects.values()];
    return { items: structuredClone(items) as unknown as T[], resourceVersion: String(this.#version) };
  }

  async *#watch(type: ResourceType, signal: AbortSignal | undefined): AsyncGenerator<WatchEvent<KubeObject>> {
    const events: WatchEvent<KubeObject>[] = [];
    let wake = Promise.withResolvers<void>();
    const entry = {
      plural: type.plural,
      push: (event: WatchEvent<KubeObject>) => {
        events.push(event);
        wake.resolve();
      },
    };
    this.#watches.add(entry);
    signal?.addEventListener('abort', () => wake.reject(signal.reason), { once: true });
    try {
      for (;;) {
        for (let event = events.shift(); event !== undefined; event = events.shift()) yield event;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    } finally {
      this.#watches.delete(entry);
    }
  }

  #tell(plural: string, event: WatchEvent<KubeObject>): void {
    for (const watch of this.#watches) if (watch.plural === plural) watch.push(event);
  }
}

function notFound(): ApiError {
  return new ApiError('the server could not find the requested resource', { status: 404, reason: 'NotFound' });
}

let stop: AbortController | undefined;
let running: Promise<void> | undefined;
afterEach(async () => {
  stop?.abort(new Error('test over'));
  await running;
});

function start(server: Server, ...types: ResourceType[]): { cache: OptionalCache; seen: string[] } {
  const cache = createOptionalCache(server.client(), types, {
    indexers: { name: ({ metadata }) => [metadata.name ?? ''] },
  });
  const seen: string[] = [];
  cache.subscribe(({ type, object }) => seen.push(`${type} ${object.metadata.name ?? ''}`));
  stop = new AbortController();
  running = cache.start(stop.signal);
  return { cache, seen };
}

describe('a cache of a kind that may not be installed', () => {
  it('given no definition, when started, then it is synced and empty and does not ask for the kind', async () => {
    const server = new Server();
    const { cache } = start(server, v1);
    await cache.whenSynced();
    expect([cache.installed, cache.synced, cache.list(), cache.byIndex('name', 'x')]).toEqual([false, true, [], []]);
    expect(server.lists).toEqual(['customresourcedefinitions/v1']);
    expect(() => cache.byIndex('other', 'x')).toThrow('no such index');
  });

  it('given a definition, when started, then it is synced once the objects are there', async () => {
    const server = new Server();
    server.serve('v1');
    server.put('one');
    const { cache, seen } = start(server, v2, v1);
    await cache.whenSynced();
    expect(cache.type.version).toBe('v1');
    expect(cache.get('a/one')?.metadata.uid).toBe('uid-one');
    expect(cache.byIndex('name', 'one')).toHaveLength(1);
    expect(seen).toEqual(['added one']);
  });

  it('given a definition that comes late and goes, when it does, then objects are told as added and as deleted', async () => {
    const server = new Server();
    const { cache, seen } = start(server, v1);
    await cache.whenSynced();
    const installed: boolean[] = [];
    cache.onInstalled((is) => installed.push(is));
    server.serve('v1');
    await expect.poll(() => cache.installed).toBe(true);
    await cache.whenSynced();
    server.put('one');
    await expect.poll(() => seen).toEqual(['added one']);
    server.withdraw();
    await expect.poll(() => seen).toEqual(['added one', 'deleted one']);
    expect([cache.installed, cache.synced, cache.list()]).toEqual([false, true, []]);
    server.serve('v1');
    server.put('two');
    await expect.poll(() => seen.at(-1)).toBe('added two');
    expect(installed).toEqual([true, false, true]);
  });

  it('given another version that is served, when it is the better one, then it is used and subscribers hear nothing', async () => {
    const server = new Server();
    server.serve('v1');
    server.put('one');
    const { cache, seen } = start(server, v2, v1);
    await cache.whenSynced();
    server.serve('v1', 'v2');
    await expect.poll(() => cache.type.version).toBe('v2');
    expect(cache.get('a/one')).toBeDefined();
    expect(cache.byIndex('name', 'one')).toHaveLength(1);
    server.put('two');
    await expect.poll(() => seen).toEqual(['added one', 'added two']);
    server.serve('v1');
    await expect.poll(() => cache.type.version).toBe('v1');
    expect(seen).toEqual(['added one', 'added two']);
  });

  it('given versions of two kinds, when made, then that is a mistake', () => {
    expect(() => createOptionalCache(new Server().client(), [v1, CustomResourceDefinitions])).toThrow('one kind');
  });
});
