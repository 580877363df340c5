import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { Namespaces, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings } from '../../../api/kubernetes/rbac.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { parseKey } from '../../../api/resource.ts';
import { MemoryCluster, refusal } from '../../../test/support/memory-cluster.ts';
import type { KubeClient, PatchOptions } from '../../kube/client.ts';
import type { HubContext } from '../fleet/context.ts';
import { createStatusWriter } from '../fleet/status-writer.ts';
import type { ArgoCDPublisher } from './argocd-publisher.ts';
import { createArgoCDPublisher } from './argocd-publisher.ts';
import { recordOf } from './argocd-record.ts';
import { settingsOf } from './argocd-settings.ts';

const key = 'fleet-default/east';
const revision = '0123456789ab';
const settings = settingsOf({ namespace: 'argocd', namespaces: ['apps'] });
const inside = <T>(wait: () => Promise<T>): Promise<T> => wait();
const signal = new AbortController().signal;
const kubeconfig = JSON.stringify({
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  clusters: [{ name: 'a', cluster: { server: 'https://east:6443' } }],
  users: [{ name: 'a', user: { token: 'admin' } }],
});

class Crash extends Error {}

/** A hub and an edge in memory, and a process that can end at any call. */
class World {
  readonly hub = new MemoryCluster('https://hub');
  readonly edge = new MemoryCluster('https://east:6443');
  calls = 0;
  #crash: { readonly at: number; readonly after: boolean } | undefined;
  #tokens = 0;

  constructor() {
    const cluster: Cluster = {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'east', namespace: 'fleet-default', uid: 'u1' },
      spec: { kubeConfigSecret: 'east-kubeconfig' },
    };
    this.hub.add(Clusters, cluster);
    this.hub.add(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'east-kubeconfig', namespace: 'fleet-default' },
      data: { value: Buffer.from(kubeconfig).toString('base64') },
    });
    this.edge.add(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: 'edge' } });
  }

  get cluster(): Cluster {
    return this.hub.one(Clusters, parseKey(key)) as Cluster;
  }

  get secrets(): KubeObject[] {
    return this.hub.all(Secrets).filter(({ metadata }) => metadata.namespace === 'argocd');
  }

  get downstream(): string[] {
    const types: ResourceType[] = [ServiceAccounts, RoleBindings, ClusterRoleBindings];
    return types.flatMap((type) =>
      this.edge.all(type).map(({ metadata }) => `${type.kind} ${metadata.namespace ?? ''}`),
    );
  }

  /** A process that ends before or after its `at`-th call; never without. */
  start(crash?: { readonly at: number; readonly after: boolean }): ArgoCDPublisher {
    this.calls = 0;
    this.#crash = crash;
    const client = this.#mortal(complete(this.hub, () => ''));
    const edge = this.#mortal(complete(this.edge, () => `token-${(this.#tokens += 1)}`));
    const clusters = {
      get: () => this.cluster,
      byIndex: () => [],
      remember: () => undefined,
      caughtUp: () => Promise.resolve(),
      until: () => Promise.resolve(undefined),
    };
    const context = {
      client,
      ownUid: 'hub',
      systemNamespace: 'cattle-fleet-system',
      config: { current: {} },
      secrets: { isOpen: () => true, get: (name: string) => this.hub.one(Secrets, parseKey(name)) },
      clusters,
      clusterStatus: createStatusWriter(client, Clusters, clusters, 'muster-hub'),
      events: { event: () => undefined },
    };
    return createArgoCDPublisher(context as unknown as HubContext, { get: () => edge, close: () => Promise.resolve() });
  }

  #mortal(client: KubeClient): KubeClient {
    const wrap =
      (call: (...args: never[]) => Promise<unknown>) =>
      async (...args: never[]): Promise<unknown> => {
        const mine = (this.calls += 1);
        if (this.#crash && mine > this.#crash.at) throw new Crash('nothing happens after the end');
        const ends = this.#crash?.at === mine;
        if (ends && !this.#crash?.after) throw new Crash('before');
        const answer = await call(...args);
        if (ends) throw new Crash('after');
        return answer;
      };
    const entries = Object.entries(client).map(([name, value]) => [
      name,
      typeof value === 'function' ? wrap(value) : value,
    ]);
    return Object.fromEntries(entries) as KubeClient;
  }
}

/** What the memory cluster does not know: lists by label, tests in JSON patches, tokens that end. */
function complete(cluster: MemoryCluster, token: () => string): KubeClient {
  const base = cluster.client();
  const list: KubeClient['list'] = <T extends KubeObject>(type: ResourceType<T>, { labelSelector = '' } = {}) => {
    const [label = '', value] = labelSelector.split('=');
    const items = cluster.all(type).filter(({ metadata }) => metadata.labels?.[label] === value);
    return Promise.resolve({ items, resourceVersion: '1' });
  };
  const patch = async <T extends KubeObject>(
    type: ResourceType<T>,
    at: never,
    change: unknown,
    options: PatchOptions,
  ) => {
    if (options.type !== 'json') return await base.patch(type, at, change, options);
    const stored = await base.get(type, at);
    for (const { path, value } of change as { path: string; value: string }[]) {
      const [, , map = '', name = ''] = path.split('/');
      const held = (stored.metadata as Record<string, Record<string, string> | undefined>)[map];
      if (held?.[name.replaceAll('~1', '/')] !== value) throw refusal(422, 'Invalid', path);
    }
    return stored;
  };
  return {
    ...base,
    list,
    patch: patch as KubeClient['patch'],
    raw: () => Promise.resolve({ gitVersion: 'v1.36.3' }),
    createToken: (_account, { expirationSeconds }) =>
      Promise.resolve({
        token: token(),
        expirationTimestamp: new Date(Date.now() + expirationSeconds * 1000).toISOString(),
      }),
  };
}

const publish = (publisher: ArgoCDPublisher, world: World) =>
  publisher.publish(world.cluster, { settings, revision }, inside, signal);
const withdraw = async (publisher: ArgoCDPublisher, world: World): Promise<void> => {
  const record = recordOf(world.cluster);
  if (record !== undefined) await publisher.withdraw(world.cluster, record, { skipEdge: false }, signal);
};
const expectNothing = (world: World): void => {
  expect([world.secrets, world.downstream, recordOf(world.cluster)]).toEqual([[], [], undefined]);
};

/** Runs `work` in a world of its own for each call at which the process can end. */
async function atEachCall(
  prepare: (world: World) => Promise<void>,
  work: (publisher: ArgoCDPublisher, world: World) => Promise<void>,
  check: (world: World) => Promise<void>,
): Promise<number> {
  for (let at = 1, ended = true; ; at += 1) {
    for (const after of [false, true]) {
      const world = new World();
      await prepare(world);
      ended = await work(world.start({ at, after }), world).then(
        () => false,
        (error: unknown) => {
          if (error instanceof Crash) return true;
          throw error;
        },
      );
      await check(world);
    }
    if (!ended) return at - 1;
  }
}

describe('publishing to Argo CD, by a hub that ends at any call', () => {
  it('given that it begins anew, then the Secret holds the newest token, and there is one account', async () => {
    const calls = await atEachCall(
      () => Promise.resolve(),
      publish,
      async (world) => {
        await publish(world.start(), world);
        expect(world.secrets).toHaveLength(1);
        expect(world.downstream.sort()).toEqual(['RoleBinding apps', 'ServiceAccount muster-argocd']);
        expect(recordOf(world.cluster)?.content?.revision).toBe(revision);
      },
    );
    expect(calls).toBeGreaterThan(10);
  });

  it('given that the Cluster goes meanwhile, then what was made is known, and nothing is left', async () => {
    await atEachCall(
      () => Promise.resolve(),
      publish,
      async (world) => {
        await withdraw(world.start(), world);
        expectNothing(world);
      },
    );
  });

  it('given that it ends while it takes all back, then the next one goes on, and nothing is left', async () => {
    const calls = await atEachCall(
      (world) => publish(world.start(), world),
      withdraw,
      async (world) => {
        await withdraw(world.start(), world);
        expectNothing(world);
      },
    );
    expect(calls).toBeGreaterThan(5);
  });

  it('given another namespace of Argo CD, then the Secret moves and the token in the old one ends', async () => {
    const world = new World();
    await publish(world.start(), world);
    const account = () => world.edge.all(ServiceAccounts)[0]?.metadata.uid;
    const before = account();
    const moved = { ...settings, namespace: 'argo' };
    await world.start().publish(world.cluster, { settings: moved, revision: 'ba9876543210' }, inside, signal);
    expect(world.secrets).toEqual([]);
    expect(world.hub.all(Secrets).map(({ metadata }) => metadata.namespace)).toContain('argo');
    expect(recordOf(world.cluster)?.namespace).toBe('argo');
    expect(account()).not.toBe(before);
  });
});
