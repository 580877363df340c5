import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { finalizers, labels } from '../../../api/fleet/constants.ts';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { BundleDeployments, Bundles, ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { agentBundleName, clusterNamespace, registrationSecretName } from '../../../api/fleet/names.ts';
import { ConfigMaps, Namespaces, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { httpGet } from '../../../test/harness/http-get.ts';
import { FaultProxy, poll } from '../../../test/harness/index.ts';
import {
  ask,
  answerTo,
  asToken,
  cluster,
  clusterThat,
  condition,
  createToken,
  valuesOf,
  workspace,
} from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub } from '../../../test/support/running-hub.ts';
import { isForbidden, isUnauthorized } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';

let hub: RunningHub;
let agent: KubeClient;

beforeAll(async () => {
  hub = await startRunningHub('registration');
  await createToken(hub, 'tok');
  agent = await asToken(hub, 'tok');
});
afterAll(() => hub?.close());

const heartbeat = (lastSeen: string) => [
  { op: 'add', path: '/status/agent', value: { lastSeen, namespace: 'cattle-fleet-system' } },
];
const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

async function requestThat(request: ClusterRegistration, look: (now: ClusterRegistration) => boolean, what: string) {
  return await poll(
    async () => {
      const found = await hub.admin.find(ClusterRegistrations, parseKey(keyOf(request)));
      return found !== undefined && look(found) ? found : undefined;
    },
    { what },
  );
}

describe('a request with a token', () => {
  it('given a token, when an agent asks, then it gets an account that can do its work and nothing else', async () => {
    const request = await ask(agent, {
      clientID: 'one',
      token: 'tok',
      clusterLabels: { env: 'dev', 'fleet.cattle.io/x': 'y', 'management.cattle.io/cluster-display-name': 'other' },
    });
    const answer = await answerTo(agent, request);
    const granted = await requestThat(request, ({ status }) => status?.granted === true, 'granted');
    const name = granted.status?.clusterName ?? '';
    const namespace = clusterNamespace(workspace, name);
    expect(answer).toEqual({
      token: expect.any(String),
      deploymentNamespace: namespace,
      clusterNamespace: workspace,
      clusterName: name,
      systemNamespace: 'cattle-fleet-system',
    });

    const registered = hub.asBearer(answer['token'] ?? '');
    expect((await registered.list(BundleDeployments, { namespace })).items).toEqual([]);
    await registered.patch(Clusters, { namespace: workspace, name }, heartbeat(now()), {
      type: 'json',
      subresource: 'status',
    });
    const ready = await clusterThat(hub, name, (c) => condition(c, 'Ready')?.status === 'True', 'Ready');
    expect(ready.metadata.labels).toEqual({ env: 'dev', [labels.cluster]: name });
    expect(ready.metadata.finalizers).toEqual([finalizers.cluster]);
    expect(ready.status).toMatchObject({ namespace, display: { state: 'Ready', readyBundles: '0/0' } });
    const stored = await hub.admin.get(Namespaces, { name: namespace });
    expect(stored.metadata.annotations).toMatchObject({
      'fleet.cattle.io/cluster': name,
      'fleet.cattle.io/cluster-namespace': workspace,
    });

    await expect(registered.list(Secrets, { namespace })).rejects.toSatisfy(isForbidden);
    await expect(registered.list(Clusters, { namespace: workspace })).rejects.toSatisfy(isForbidden);
    await expect(agent.list(Secrets, { namespace: registrationNamespace })).rejects.toSatisfy(isForbidden);
    await expect(agent.list(ClusterRegistrations, { namespace: workspace })).rejects.toSatisfy(isForbidden);
  });

  it('given two tokens, when each asks, then neither can read the answer to the other', async () => {
    await createToken(hub, 'other', '1h');
    const other = await asToken(hub, 'other');
    const [mine, theirs] = await Promise.all([
      ask(agent, { clientID: 'mine', token: 'tok' }),
      ask(other, { clientID: 'theirs', token: 'other' }),
    ]);
    await Promise.all([answerTo(agent, mine), answerTo(other, theirs)]);
    const name = registrationSecretName('theirs', theirs.spec?.clientRandom ?? '');
    await expect(agent.get(Secrets, { namespace: registrationNamespace, name })).rejects.toSatisfy(isForbidden);
  });

  it('given one token, when two clusters ask one after the other, then each can read its answer from then on', async () => {
    const requests = [];
    for (const clientID of ['first-of-two', 'second-of-two']) {
      requests.push(await ask(agent, { clientID, token: 'tok' }));
      for (const request of requests) expect(await answerTo(agent, request, 20_000)).toHaveProperty('token');
    }
  });

  it('given an agent that names no token, when it asks, then it can read its answer all the same', async () => {
    const request = await ask(agent, { clientID: 'old-agent' });
    expect(await answerTo(agent, request)).toHaveProperty('token');
  });

  it('given an agent that rotates, when it asks, then its token ends and it can issue itself the next', async () => {
    const request = await ask(agent, { clientID: 'rotating', token: 'tok', rotating: true });
    const { token = '', deploymentNamespace: namespace = '' } = await answerTo(agent, request);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number;
      sub: string;
    };
    const days = (claims.exp * 1000 - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(85);
    expect(days).toBeLessThan(91);
    const name = claims.sub.split(':')[3] ?? '';
    const next = await poll(
      () =>
        hub
          .asBearer(token)
          .createToken({ namespace, name }, { expirationSeconds: 3600 })
          .catch((error: unknown) => (isForbidden(error) ? undefined : Promise.reject(error as Error))),
      { what: 'the next token' },
    );
    expect((await hub.asBearer(next.token).list(BundleDeployments, { namespace })).items).toEqual([]);
  });

  it('given a Cluster that waits for this clientID, when the agent asks, then it is bound to it', async () => {
    await hub.admin.create(Clusters, cluster('declared', { clientID: 'known' }, { labels: { keep: 'me' } }));
    const waiting = await clusterThat(hub, 'declared', (c) => c.status?.namespace !== undefined, 'namespace');
    expect(condition(waiting, 'Registered')).toMatchObject({ status: 'False', reason: 'WaitingForAgent' });
    const answer = await answerTo(
      agent,
      await ask(agent, { clientID: 'known', token: 'tok', clusterLabels: { add: 'ed' } }),
    );
    expect(answer['clusterName']).toBe('declared');
    const bound = await clusterThat(
      hub,
      'declared',
      (c) => condition(c, 'Registered')?.status === 'True',
      'Registered',
    );
    expect(bound.metadata.labels).toEqual({ keep: 'me' });
  });

  it('given a registered agent, when it asks again, then only the newer account lives', async () => {
    const first = await answerTo(agent, await ask(agent, { clientID: 'twice', token: 'tok' }));
    const second = await answerTo(agent, await ask(agent, { clientID: 'twice', token: 'tok' }));
    const namespace = second['deploymentNamespace'] ?? '';
    expect(first['deploymentNamespace']).toBe(namespace);
    await poll(
      async () =>
        await hub
          .asBearer(first['token'] ?? '')
          .list(BundleDeployments, { namespace })
          .then(
            () => undefined,
            (error: unknown) => isUnauthorized(error) || undefined,
          ),
      { what: 'the end of the first account' },
    );
    expect((await hub.asBearer(second['token'] ?? '').list(BundleDeployments, { namespace })).items).toEqual([]);
    const accounts = await hub.admin.list(ServiceAccounts, { namespace, labelSelector: `${labels.managed}=true` });
    expect(accounts.items).toHaveLength(1);
  });
});

describe('requests that get nothing', () => {
  it('given no clientID, when it asks, then it is told so and no Cluster is touched', async () => {
    const request = await ask(agent, { clientID: '', token: 'tok' });
    const refused = await requestThat(request, (r) => condition(r, 'Accepted')?.status === 'False', 'refused');
    expect(condition(refused, 'Accepted')).toMatchObject({ reason: 'InvalidSpec' });
    expect(refused.status?.granted).toBeUndefined();
  });

  it('given two Clusters with one clientID, when the agent asks, then all three say why, and it heals', async () => {
    await hub.admin.create(Clusters, cluster('twin-a', { clientID: 'twin' }));
    await hub.admin.create(Clusters, cluster('twin-b', { clientID: 'twin' }));
    const request = await ask(agent, { clientID: 'twin', token: 'tok' });
    await requestThat(request, (r) => condition(r, 'Accepted')?.reason === 'AmbiguousClientID', 'refused');
    for (const name of ['twin-a', 'twin-b']) {
      await clusterThat(hub, name, (c) => condition(c, 'Registered')?.reason === 'AmbiguousClientID', 'told');
    }
    await hub.admin.patch(
      Clusters,
      { namespace: workspace, name: 'twin-b' },
      { spec: { clientID: 'twin-2' } },
      { type: 'merge' },
    );
    expect(await answerTo(agent, request)).toMatchObject({ clusterName: 'twin-a' });
  });

  it('given a Cluster with a kubeconfig, when another token asks for it, then it is refused', async () => {
    await hub.admin.create(Clusters, cluster('imported', { clientID: 'imported-id', kubeConfigSecret: 'missing' }));
    const request = await ask(agent, { clientID: 'imported-id', token: 'tok' });
    await requestThat(request, (r) => condition(r, 'Accepted')?.reason === 'WrongToken', 'refused');
  });

  it('given a namespace of someone else with the name of the cluster namespace, when registered, then it is left alone', async () => {
    const name = clusterNamespace(workspace, 'squatted');
    await hub.admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await hub.admin.create(Clusters, cluster('squatted', { clientID: 'squatted' }));
    await clusterThat(hub, 'squatted', (c) => condition(c, 'Processed')?.reason === 'NamespaceTaken', 'told');
    await hub.admin.delete(Namespaces, { name });
    await clusterThat(hub, 'squatted', (c) => condition(c, 'Processed')?.status === 'True', 'healed', 30_000);
  });
});

describe('the end', () => {
  it('given a registered agent, when its request is deleted, then its account, rights and answer go', async () => {
    const request = await ask(agent, { clientID: 'revoked', token: 'tok' });
    const { token = '', clusterName = '', deploymentNamespace: namespace = '' } = await answerTo(agent, request);
    await requestThat(request, ({ status }) => status?.granted === true, 'granted');
    await hub.admin.delete(ClusterRegistrations, parseKey(keyOf(request)));
    await poll(
      async () =>
        await hub
          .asBearer(token)
          .list(BundleDeployments, { namespace })
          .then(
            () => undefined,
            (error: unknown) => isUnauthorized(error) || undefined,
          ),
      { what: 'rejected' },
    );
    await clusterThat(hub, clusterName, (c) => condition(c, 'Registered')?.status === 'False', 'told');
    expect(await traces(request.metadata.name ?? '')).toEqual([]);
  });

  it('given a registered cluster, when it is deleted, then nothing of it is left', async () => {
    const request = await ask(agent, { clientID: 'goes', token: 'tok' });
    const { clusterName: name = '', deploymentNamespace: namespace = '' } = await answerTo(agent, request);
    await requestThat(request, ({ status }) => status?.granted === true, 'granted');
    await hub.admin.create(BundleDeployments, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'BundleDeployment',
      metadata: { name: 'bundle', namespace, finalizers: [finalizers.bundleDeployment] },
      spec: {},
    });
    // a hub of Fleet that was here before
    const bundle = { namespace: workspace, name: agentBundleName(name) };
    await hub.admin.create(Bundles, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'Bundle',
      metadata: { ...bundle, finalizers: [finalizers.bundle] },
      spec: { targets: [{ clusterName: name }] },
    });
    await hub.admin.delete(Clusters, { namespace: workspace, name });
    await poll(
      async () => ((await hub.admin.find(Clusters, { namespace: workspace, name })) === undefined ? true : undefined),
      { what: 'gone', limitMs: 25_000 },
    );
    expect(await hub.admin.find(Namespaces, { name: namespace })).toBeUndefined();
    expect(await hub.admin.find(Bundles, bundle)).toBeUndefined();
    expect(await hub.admin.find(ClusterRegistrations, parseKey(keyOf(request)))).toBeUndefined();
    expect(await traces(request.metadata.name ?? '')).toEqual([]);
  });
});

/** Objects that refer to a request or its Cluster. */
async function traces(request: string): Promise<string[]> {
  const [bindings, clusterBindings, secrets, accounts] = await Promise.all([
    hub.admin.list(RoleBindings),
    hub.admin.list(ClusterRoleBindings),
    hub.admin.list(Secrets, { namespace: registrationNamespace }),
    hub.admin.list(ServiceAccounts),
  ]);
  return [...bindings.items, ...clusterBindings.items, ...secrets.items, ...accounts.items]
    .filter((object) => object.metadata.annotations?.['fleet.cattle.io/cluster-registration'] === request)
    .map((object) => `${object.kind} ${keyOf(object)}`);
}

describe('faults', () => {
  it('given rights that take long to write, when an agent of either kind asks, then its answer is published only after them', async () => {
    const proxy = await FaultProxy.start(hub.plane);
    try {
      await hub.stop();
      await hub.start({ server: proxy.server, ca: proxy.ca });
      proxy.fail({ match: { method: 'POST', path: 'rolebindings' }, slowMs: 1000 });
      // of ours no right is proven before, so the order is all that there is
      for (const rotating of [false, true]) {
        const request = await ask(agent, { clientID: `slow-rights-${rotating}`, token: 'tok', rotating });
        const answer = await answerTo(agent, request, 20_000);
        const bindings = await hub.admin.list(RoleBindings);
        const own = bindings.items.filter(
          (each) => each.metadata.annotations?.['fleet.cattle.io/cluster-registration'] === request.metadata.name,
        );
        expect(own).toHaveLength(2);
        const namespace = answer['deploymentNamespace'] ?? '';
        expect((await hub.asBearer(answer['token'] ?? '').list(BundleDeployments, { namespace })).items).toEqual([]);
      }
    } finally {
      await hub.stop();
      await proxy.close();
      await hub.start();
    }
  });

  it('given a hub at rest, when it is started again, then it writes nothing', async () => {
    await answerTo(agent, await ask(agent, { clientID: 'rest', token: 'tok' }));
    await hub.quiet();
    await hub.stop();
    const before = await hub.writes();
    await hub.start();
    await hub.quiet();
    expect(await hub.writes()).toBe(before);
  });

  it('given an API server that restarts, when an agent asks afterwards, then it is registered', async () => {
    await hub.plane.restart('kube-apiserver');
    const request = await poll(() => ask(agent, { clientID: 'after-restart', token: 'tok' }).catch(() => undefined), {
      what: 'a request',
    });
    expect(await answerTo(agent, request)).toHaveProperty('token');
  });
});

describe('cost', () => {
  /** Requests of one registration, of all clients together, when so many come at once; and lists, of all of them. */
  async function costOf(count: number): Promise<{ each: number; lists: number }> {
    await hub.quiet();
    let looks = 0;
    const before = { all: await requestsServed(), lists: await requestsServed(/verb="LIST"/) };
    await Promise.all(
      Array.from({ length: count }, (_, index) =>
        ask(agent, { clientID: `cost-${count}-${index}`, token: 'tok', rotating: true }),
      ),
    );
    const granted = async (): Promise<true | undefined> => {
      looks++;
      const { items } = await hub.admin.list(ClusterRegistrations, { namespace: workspace });
      const mine = items.filter(({ spec }) => spec?.clientID?.startsWith(`cost-${count}-`));
      return mine.every(({ status }) => status?.granted === true) ? true : undefined;
    };
    await poll(granted, { what: `${count} granted requests`, limitMs: 30_000 });
    await hub.quiet();
    // the test's own looks at its requests are not part of a registration
    const each = ((await requestsServed()) - before.all - looks) / count;
    return { each, lists: (await requestsServed(/verb="LIST"/)) - before.lists - looks };
  }

  it('given agents that register, when counted, then each costs the API server 16 requests at most, whatever their number, and nothing is listed (fleet#83, fleet#319, fleet#1739)', async () => {
    const few = await costOf(20);
    const many = await costOf(100);
    expect(few.each).toBeLessThanOrEqual(16);
    expect(many.each).toBeLessThanOrEqual(few.each * 1.05);
    // a hub that looks through all requests for each one has some for every registration
    expect(many.lists).toBeLessThan(10);
  }, 60_000);
});

/** Requests that the API server has answered, watches not counted; those whose line of its metrics matches. */
async function requestsServed(matching = /./): Promise<number> {
  const target = { server: hub.plane.server, ca: hub.plane.ca, token: hub.plane.adminToken };
  const lines = ((await httpGet(target, '/metrics'))?.text ?? '').split('\n');
  const counted = lines.filter(
    (line) => line.startsWith('apiserver_request_total{') && !line.includes('verb="WATCH"') && matching.test(line),
  );
  return counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

describe('liveness and configuration', () => {
  it('given an agent that falls silent, when its time is over, then its Cluster is offline, and online again when it is heard', async () => {
    await hub.configure({ agentCheckinInterval: '1s' });
    const answer = await answerTo(agent, await ask(agent, { clientID: 'silent', token: 'tok' }));
    const name = answer['clusterName'] ?? '';
    const registered = hub.asBearer(answer['token'] ?? '');
    const beat = () =>
      registered.patch(Clusters, { namespace: workspace, name }, heartbeat(now()), {
        type: 'json',
        subresource: 'status',
      });
    await clusterThat(hub, name, (c) => c.status?.display?.state === 'WaitCheckIn', 'waiting');
    await beat();
    await clusterThat(hub, name, (c) => c.status?.display?.state === 'Ready', 'ready');
    const offline = await clusterThat(hub, name, (c) => c.status?.display?.state === 'Offline', 'offline');
    expect(condition(offline, 'AgentReachable')).toMatchObject({ status: 'False', reason: 'HeartbeatOverdue' });
    await beat();
    await clusterThat(hub, name, (c) => c.status?.display?.state === 'Ready', 'ready again');
    await hub.configure({});
  });

  it('given a configuration that is not JSON, when written, then the last good one stays and an Event tells', async () => {
    const key = { namespace: 'cattle-fleet-system', name: 'fleet-controller' };
    await hub.admin.patch(ConfigMaps, key, { data: { config: '{' } }, { type: 'merge' });
    await poll(async () => ((await eventsAbout('fleet-controller')).includes('ConfigInvalid') ? true : undefined), {
      what: 'an Event',
    });
    await createToken(hub, 'still');
    expect((await valuesOf(hub, 'still')).apiServerURL).toBe(hub.plane.server);
    await hub.configure({});
  });
});

/** Reasons of the Events about objects of this name. */
async function eventsAbout(name: string): Promise<string[]> {
  const list = (await hub.admin.raw('/apis/events.k8s.io/v1/events')) as {
    items: { reason: string; regarding: { name: string } }[];
  };
  return list.items.filter(({ regarding }) => regarding.name === name).map(({ reason }) => reason);
}

describe('tokens', () => {
  it('given a ttl, when it has passed, then the token and what belongs to it are gone', async () => {
    await createToken(hub, 'short', '4s');
    const short = await asToken(hub, 'short');
    await answerTo(short, await ask(short, { clientID: 'short', token: 'short' }));
    const readers = async (): Promise<string[]> =>
      (await hub.admin.list(Roles, { namespace: registrationNamespace })).items
        .map(({ metadata }) => metadata.name ?? '')
        .filter((name) => name.startsWith('short-'));
    expect(await readers()).toHaveLength(1);
    await poll(
      async () =>
        (await hub.admin.find(Secrets, { namespace: workspace, name: 'short' })) === undefined ? true : undefined,
      { what: 'the end of the values', limitMs: 25_000 },
    );
    await poll(async () => ((await readers()).length === 0 ? true : undefined), { what: 'no reader Role' });
  });

  it('given values in the field, when the address of the hub changes, then new values have it and the same token', async () => {
    const before = await valuesOf(hub, 'tok');
    await hub.configure({ apiServerURL: 'https://hub.example.com' });
    const after = await poll(
      async () => {
        const values = await valuesOf(hub, 'tok');
        return values.apiServerURL === 'https://hub.example.com' ? values : undefined;
      },
      { what: 'the new address' },
    );
    expect(after.token === before.token).toBe(true);
    await hub.configure({});
  });

  it('given a Secret of someone else with the name of a token, when it is made, then it says so and heals', async () => {
    await hub.admin.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'taken', namespace: workspace },
    });
    await createToken(hub, 'taken');
    await poll(
      async () => {
        const events = hub.lines.join('');
        return events.includes('exists and is not the token') ? true : undefined;
      },
      { what: 'the refusal' },
    );
    await hub.admin.delete(Secrets, { namespace: workspace, name: 'taken' });
    await poll(
      async () =>
        (await hub.admin.find(Secrets, { namespace: workspace, name: 'taken' }))?.data?.['values'] ? true : undefined,
      { what: 'values' },
    );
  });
});
