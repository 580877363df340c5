/** Who may be which cluster: claims on clientIDs that others have. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { BundleDeployments, ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { autoClusterName, registrationSecretName } from '../../../api/fleet/names.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { FaultProxy, poll } from '../../../test/harness/index.ts';
import { ask, answerTo, asToken, clusterThat, condition, createToken } from '../../../test/support/registering.ts';
import { cluster as declared, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub } from '../../../test/support/running-hub.ts';
import { isForbidden, isUnauthorized } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';

let hub: RunningHub;
/** Whoever has the token of the workspace: its clusters, and those who stole it. */
let holder: KubeClient;

beforeAll(async () => {
  hub = await startRunningHub('identity');
  await createToken(hub, 'tok');
  holder = await asToken(hub, 'tok');
});
afterAll(() => hub?.close());
afterEach(() => hub.configure({}));

interface Agent {
  readonly request: ClusterRegistration;
  readonly name: string;
  /** Sends a heartbeat with its credential. */
  beat(at?: Date): Promise<unknown>;
  /** Whether its credential is accepted. */
  works(): Promise<boolean>;
}

async function registered(request: ClusterRegistration): Promise<Agent> {
  const answer = await answerTo(holder, request);
  const client = hub.asBearer(answer['token'] ?? '');
  const [name, namespace] = [answer['clusterName'] ?? '', answer['deploymentNamespace'] ?? ''];
  await requestThat(request, ({ status }) => status?.granted === true, 'granted');
  return {
    request,
    name,
    beat: (at = new Date()) => {
      const value = { lastSeen: at.toISOString(), namespace: 'cattle-fleet-system' };
      const patch = [{ op: 'add', path: '/status/agent', value }];
      return client.patch(Clusters, { namespace: workspace, name }, patch, { type: 'json', subresource: 'status' });
    },
    works: () =>
      client.list(BundleDeployments, { namespace }).then(
        () => true,
        (error: unknown) =>
          // its rights go a moment before its account
          isUnauthorized(error) || isForbidden(error) ? false : Promise.reject(error as Error),
      ),
  };
}

async function requestThat(request: ClusterRegistration, look: (now: ClusterRegistration) => boolean, what: string) {
  const find = async () => {
    const found = await hub.admin.find(ClusterRegistrations, parseKey(keyOf(request)));
    return found !== undefined && look(found) ? found : undefined;
  };
  return await poll(find, { what });
}

const answered = async ({ spec }: ClusterRegistration): Promise<boolean> => {
  const name = registrationSecretName(spec?.clientID ?? '', spec?.clientRandom ?? '');
  return (await hub.admin.find(Secrets, { namespace: registrationNamespace, name })) !== undefined;
};
const requestsOf = async (clientID: string): Promise<ClusterRegistration[]> =>
  (await hub.admin.list(ClusterRegistrations, { namespace: workspace })).items.filter(
    ({ spec, metadata }) => spec?.clientID === clientID && metadata.deletionTimestamp === undefined,
  );
const claimed = (request: ClusterRegistration) =>
  requestThat(request, (now) => condition(now, 'Granted')?.reason === 'ClientIDInUse', 'told that it is in use');
const inWork = (agent: Agent) =>
  poll(async () => ((await agent.works()) ? true : undefined), { what: 'a credential that works' });
const cutOff = (agent: Agent) =>
  poll(async () => ((await agent.works()) ? undefined : true), { what: 'the end of the older credential' });

/** One that is registered and reports. */
async function living(clientID: string): Promise<Agent> {
  const agent = await registered(await ask(holder, { clientID, token: 'tok' }));
  await agent.beat();
  await clusterThat(hub, agent.name, (c) => condition(c, 'Ready')?.status === 'True', 'Ready');
  return agent;
}

describe('a clientID whose agent reports', () => {
  it('given a leaked token, when another cluster claims it, then it gets nothing, both say so, and the agent stays', async () => {
    const victim = await living('victim');
    const claim = await ask(holder, { clientID: 'victim', token: 'tok' });
    const told = await claimed(claim);
    expect(told.status?.granted).toBeUndefined();
    const contested = await clusterThat(hub, victim.name, (c) => condition(c, 'Contested')?.status === 'True', 'told');
    expect(condition(contested, 'Contested')).toMatchObject({ reason: 'ClientIDInUse' });
    expect(condition(contested, 'Contested')?.message).toContain(claim.metadata.name);
    expect(condition(contested, 'Ready')).toMatchObject({ status: 'True' });
    await victim.beat();
    await hub.quiet();
    expect(await victim.works()).toBe(true);
    expect(await answered(claim)).toBe(false);
    expect((await requestsOf('victim')).map(keyOf)).toContain(keyOf(victim.request));

    await hub.admin.delete(ClusterRegistrations, parseKey(keyOf(claim)));
    await clusterThat(hub, victim.name, (c) => condition(c, 'Contested') === undefined, 'no longer contested');
  });

  it('given a hub that starts again, when the clientID is claimed, then the agent stays all the same', async () => {
    const victim = await living('restarted');
    await hub.stop();
    const claim = await ask(holder, { clientID: 'restarted', token: 'tok' });
    await hub.start();
    await claimed(claim);
    expect(await answered(claim)).toBe(false);
    expect(await victim.works()).toBe(true);
  });

  it('given an agent whose clock is hours slow, when the hub starts again and it is claimed, then it stays online and keeps it', async () => {
    const victim = await living('slow');
    await victim.beat(new Date(Date.now() - 5 * 3_600_000));
    await hub.quiet();
    await hub.stop();
    const claim = await ask(holder, { clientID: 'slow', token: 'tok' });
    await hub.start();
    await claimed(claim);
    await hub.quiet();
    expect(await answered(claim)).toBe(false);
    await clusterThat(hub, victim.name, (c) => condition(c, 'AgentReachable')?.status === 'True', 'online');
  });

  it('given an owner who allows it, when claimed, then the older works until the newer is used', async () => {
    const old = await living('moved');
    const claim = await ask(holder, { clientID: 'moved', token: 'tok' });
    await claimed(claim);
    const open = { metadata: { annotations: { 'muster.dev/registration-locked': 'false' } } };
    await hub.admin.patch(Clusters, { namespace: workspace, name: old.name }, open, { type: 'merge' });
    const next = await registered(claim);
    await hub.quiet();
    expect([await old.works(), await next.works()]).toEqual([true, true]);
    // whole seconds: a heartbeat of the second in which it was granted cannot be told from one before it
    await poll(async () => (await next.beat(), (await old.works()) ? undefined : true), { what: 'the end of the old' });
    expect(await next.works()).toBe(true);
    expect((await requestsOf('moved')).map(keyOf)).toEqual([keyOf(claim)]);
  });

  it('given a lock, when claimed after the agent fell silent, then it is refused all the same', async () => {
    await hub.configure({ agentCheckinInterval: '1s' });
    const old = await living('locked');
    const locked = { metadata: { annotations: { 'muster.dev/registration-locked': 'true' } } };
    await hub.admin.patch(Clusters, { namespace: workspace, name: old.name }, locked, { type: 'merge' });
    await clusterThat(hub, old.name, (c) => c.status?.display?.state === 'Offline', 'offline');
    const claim = await ask(holder, { clientID: 'locked', token: 'tok' });
    await requestThat(claim, (now) => condition(now, 'Granted')?.reason === 'RegistrationLocked', 'refused');
    expect(await old.works()).toBe(true);
  });
});

describe('an agent that has to register again', () => {
  it('given that it lost its Secret, when it has been silent for its time, then it is granted by itself', async () => {
    await hub.configure({ agentCheckinInterval: '1s' });
    const old = await living('lost');
    const again = await ask(holder, { clientID: 'lost', token: 'tok' });
    await claimed(again);
    const next = await registered(again);
    expect(await old.works()).toBe(true);
    await next.beat();
    await cutOff(old);
    expect((await requestsOf('lost')).map(keyOf)).toEqual([keyOf(again)]);
    await clusterThat(hub, next.name, (c) => condition(c, 'Contested') === undefined, 'no longer contested');
  });

  it('given that its owner deleted the registration, when it asks, then it is granted at once', async () => {
    const old = await living('deleted');
    await hub.admin.delete(ClusterRegistrations, parseKey(keyOf(old.request)));
    await cutOff(old);
    const next = await registered(await ask(holder, { clientID: 'deleted', token: 'tok' }));
    expect(next.name).toBe(old.name);
    await inWork(next);
  });

  it('given a hundred starts that each ask anew before the first report, when all is quiet, then one registration is left and works', async () => {
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 5 }, () => ask(holder, { clientID: 'loop', token: 'tok' })));
    }
    const [left] = await poll(
      async () => {
        const now = await requestsOf('loop');
        return now.length === 1 && now[0]?.status?.granted === true ? now : undefined;
      },
      { what: 'one request', limitMs: 60_000 },
    );
    const agent = await registered(left as ClusterRegistration);
    await inWork(agent);
  }, 90_000);

  it('given two requests of the same second, when decided, then one survives', async () => {
    const both = await Promise.all([1, 2].map(() => ask(holder, { clientID: 'second', token: 'tok' })));
    await poll(
      async () => {
        const now = await requestsOf('second');
        return now.length === 1 && now[0]?.status?.granted === true ? true : undefined;
      },
      { what: 'one request' },
    );
    const winner = (await requestsOf('second'))[0];
    expect(both.map(keyOf)).toContain(winner && keyOf(winner));
  });
});

describe('a request that overtakes the Cluster declared for it', () => {
  it('given that the hub has made one by itself, when it sees the declared one, then that is registered and the other goes', async () => {
    await using proxy = await FaultProxy.start(hub.plane);
    await hub.stop();
    // the hub hears of requests, and of no new Clusters
    proxy.fail({ halfOpenWatch: true, match: { path: '/clusters?', watch: true } });
    await hub.start({ server: proxy.server, ca: proxy.ca });
    await ask(holder, { clientID: 'first', token: 'tok' });
    await clusterThat(hub, autoClusterName('first'), () => true, 'made by a hub that has read what there was');
    await hub.admin.create(Clusters, declared('declared', { clientID: 'overtaken' }));
    const request = await ask(holder, { clientID: 'overtaken', token: 'tok' });
    const own = autoClusterName('overtaken');
    await clusterThat(hub, own, () => true, 'made by the hub');
    expect(await answered(request)).toBe(false);

    proxy.clear();
    expect((await registered(request)).name).toBe('declared');
    await poll(async () => !(await hub.admin.find(Clusters, { namespace: workspace, name: own })) || undefined, {
      what: 'the end of the one that was made in vain',
    });
    const left = await clusterThat(hub, 'declared', (c) => condition(c, 'Registered')?.status === 'True', 'registered');
    expect(left.spec?.clientID).toBe('overtaken');
    await hub.stop();
    await hub.start();
  });
});

describe('a cluster that the hub imports', () => {
  it('given no import token any more, when a request names no token, then no token of the workspace can read its answer', async () => {
    // a naive hub lets every token of the workspace read it, as the sender is not known
    await hub.admin.create(Clusters, declared('imported', { clientID: 'imported-id', kubeConfigSecret: 'missing' }));
    // a request that overtakes its Cluster on the way to the hub is of a cluster of its own
    await clusterThat(hub, 'imported', (c) => condition(c, 'Imported') !== undefined, 'known to the hub');
    const claim = await ask(holder, { clientID: 'imported-id' });
    await requestThat(claim, ({ status }) => status?.granted === true, 'granted');
    const name = registrationSecretName('imported-id', claim.spec?.clientRandom ?? '');
    await expect(holder.get(Secrets, { namespace: registrationNamespace, name })).rejects.toThrow('forbidden');
  });
});
