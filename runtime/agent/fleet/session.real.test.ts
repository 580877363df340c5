import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { Authority, ControlPlane, FaultProxy, TcpCut, poll } from '../../../test/harness/index.ts';
import type { PlayedHubOptions } from '../../../test/support/played-hub.ts';
import { PlayedHub } from '../../../test/support/played-hub.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { silentLogger } from '../../kube/logger.ts';
import { type AgentContext, createContext } from './context.ts';
import { readCredential } from './credential.ts';
import { runSession } from './session.ts';

const namespace = 'agents';
const bootstrapKey = { namespace, name: 'fleet-agent-bootstrap' };
const credentialKey = { namespace, name: 'fleet-agent' };

let hubPlane: ControlPlane;
let edgePlane: ControlPlane;
let edge: KubeClient;
let hub: PlayedHub;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const start = (name: string) => ControlPlane.start({ name, controllerManager: false });
  [hubPlane, edgePlane] = await Promise.all([start('hub'), start('edge')]);
  edge = edgePlane.client();
  try {
    await edge.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
});

afterAll(async () => {
  await edge.close();
  await Promise.all([hubPlane.close(), edgePlane.close()]);
});

beforeEach(async () => {
  for (const key of [bootstrapKey, credentialKey]) await edge.delete(Secrets, key);
  await edge.delete(ConfigMaps, credentialKey);
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function playHub(options: PlayedHubOptions = {}): Promise<PlayedHub> {
  hub = await PlayedHub.start(hubPlane, options);
  closers.push(async () => {
    await hub.reset();
    await hub.close();
  });
  return hub;
}

async function invite(changes: Parameters<PlayedHub['values']>[0] = {}): Promise<void> {
  await edge.create(Secrets, hub.invitation(namespace, changes));
}

/** A running agent; `events` are the reasons it told. */
function startAgent(checkinIntervalMs = 200): { context: AgentContext; events: string[]; stop: () => Promise<void> } {
  const events: string[] = [];
  const context = createContext({
    edge,
    namespace,
    podName: 'pod',
    checkinIntervalMs,
    record: (_type, reason) => events.push(reason),
    logger: silentLogger,
  });
  const controller = new AbortController();
  const running = runSession(context, controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
  };
  closers.push(stop);
  return { context, events, stop };
}

const seen = async (): Promise<string | undefined> =>
  (await hub.client.list(Clusters, { namespace: 'fleet-default' })).items[0]?.status?.agent?.lastSeen ?? undefined;
const connected = (agent: { context: AgentContext }) =>
  poll(() => agent.context.status.readiness().ready || undefined, { what: 'the agent to be connected' });
const told = (agent: { events: string[] }, reason: string) =>
  poll(() => agent.events.includes(reason) || undefined, { what: `the agent to tell ${reason}` });

describe('a session with real control planes', () => {
  it('given an invitation, when the agent runs, then the cluster is registered and seen, and stays seen', async () => {
    await playHub();
    await invite();
    const agent = startAgent();
    await connected(agent);
    const first = await seen();
    expect(first).toBeDefined();
    await poll(async () => (await seen()) !== first || undefined, { what: 'the next heartbeat' });
    expect(await hub.requests()).toHaveLength(1);
    expect(await edge.find(Secrets, bootstrapKey)).toBeUndefined();
    const { uid } = (await edge.get(Namespaces, { name: 'kube-system' })).metadata;
    expect((await hub.requests())[0]).toMatchObject({
      spec: { clientID: uid },
      metadata: { name: expect.stringMatching(/^request-/) as string },
    });
  });

  it('given a restart, then the stored credential is used and nothing is asked', async () => {
    await playHub();
    await invite();
    const first = startAgent();
    await connected(first);
    await first.stop();
    const second = startAgent();
    await connected(second);
    expect(await hub.requests()).toHaveLength(1);
    expect(second.events).toEqual([]);
  });

  it('given rights that come after the credential, then the agent waits and sends one request', async () => {
    // longer than the agent's pause after a failure, so that one which gives up at the first refusal tells of it
    await playHub({ rightsLateMs: 3_500 });
    await invite();
    const agent = startAgent();
    await connected(agent);
    expect(await hub.requests()).toHaveLength(1);
    expect(agent.events.filter((reason) => reason.startsWith('Credential'))).toEqual([]);
  });

  it('given a hub that answers only after the agent was restarted thrice, then there is one request', async () => {
    await playHub({ grants: false });
    await invite();
    for (let run = 0; run < 3; run++) {
      const agent = startAgent();
      await poll(async () => ((await hub.requests()).length > 0 ? true : undefined), { what: 'the request' });
      await agent.stop();
    }
    const [request] = await hub.requests();
    if (request !== undefined) await hub.answer(request);
    await connected(startAgent());
    expect(await hub.requests()).toHaveLength(1);
  });

  it('given a token that is not valid, then it says so, and takes the next invitation at once', async () => {
    await playHub();
    await invite({ token: 'expired' });
    const agent = startAgent();
    await told(agent, 'TokenRejected');
    expect(agent.context.status.readiness().text).toContain('TOKEN_EXPIRED');
    await edge.delete(Secrets, bootstrapKey);
    await invite();
    agent.context.wake.wake();
    await connected(agent);
  });

  it('given a hub that refuses connections, then it says so, and registers when the hub is there', async () => {
    await playHub();
    const cut = await TcpCut.start(hubPlane.server);
    closers.push(() => cut.close());
    await cut.set('refused');
    await invite({ apiServerURL: cut.server });
    const agent = startAgent();
    await told(agent, 'HubUnreachable');
    await cut.set('open');
    await connected(agent);
    expect(await hub.requests()).toHaveLength(1);
  });

  it('given a hub that vanishes while connected, then the credential stays and the agent comes back', async () => {
    await playHub();
    const cut = await TcpCut.start(hubPlane.server);
    closers.push(() => cut.close());
    await invite({ apiServerURL: cut.server });
    const agent = startAgent();
    await connected(agent);
    await cut.set('reset');
    await told(agent, 'HubUnreachable');
    expect(agent.context.status.readiness().ready).toBe(false);
    await cut.set('open');
    await connected(agent);
    expect(agent.events).toContain('Connected');
    expect(await hub.requests()).toHaveLength(1);
  });

  it('given a hub whose answers are errors for a while, then nothing is given up', async () => {
    await playHub();
    const proxy = await FaultProxy.start(hubPlane);
    closers.push(() => proxy.close());
    await invite({ apiServerURL: proxy.server, apiServerCA: proxy.ca });
    proxy.fail({ status: 503, match: { method: 'POST' }, times: 2 });
    const agent = startAgent();
    await connected(agent);
    expect(agent.events).toContain('HubBusy');
    expect(await hub.requests()).toHaveLength(1);
  });

  it.each(['strict', 'system-store'])(
    'given %s and a CA that did not sign the hub, then it is refused',
    async (mode) => {
      await playHub();
      const wrong = Authority.create('wrong').cert;
      const config = JSON.stringify({ agentTLSMode: mode });
      await edge.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: credentialKey, data: { config } });
      await invite({ apiServerCA: wrong });
      const agent = startAgent();
      await told(agent, 'HubUntrusted');
      expect(await hub.requests()).toHaveLength(0);
    },
  );

  it.each(['strict', 'system-store'])('given %s and the right CA, then the cluster is registered', async (mode) => {
    await playHub();
    const config = JSON.stringify({ agentTLSMode: mode });
    await edge.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: credentialKey, data: { config } });
    await invite();
    await connected(startAgent());
  });

  it('given another invitation while a request waits, then that one is taken up at once', async () => {
    await playHub({ grants: false });
    await invite();
    const agent = startAgent();
    await poll(async () => ((await hub.requests()).length > 0 ? true : undefined), { what: 'the request' });
    hub.grants = true;
    await edge.delete(Secrets, bootstrapKey);
    await invite({ tokenName: 'another' });
    agent.context.wake.wake();
    await connected(agent);
    expect(agent.events).toEqual(['BootstrapChanged', 'Registered']);
  });

  it('given no invitation, then it says what is needed and registers when it comes', async () => {
    await playHub();
    const agent = startAgent();
    await told(agent, 'BootstrapMissing');
    await invite();
    agent.context.wake.wake();
    await connected(agent);
  });

  it('given a Cluster that was removed, then the credential is rejected, and an invitation brings it back', async () => {
    await playHub();
    await invite();
    const agent = startAgent();
    await connected(agent);
    const [cluster] = (await hub.client.list(Clusters, { namespace: 'fleet-default' })).items;
    await hub.removeCluster(cluster?.metadata.name ?? '');
    await poll(() => (!agent.context.status.readiness().ready ? true : undefined), { what: 'the rejection' });
    await hub.reset();
    await invite();
    agent.context.wake.wake();
    await connected(agent);
    expect(await hub.requests()).toHaveLength(1);
  });

  it('given a token that expires soon, then it is renewed, stored, and used', async () => {
    await playHub({ tokenSeconds: 600 });
    await invite();
    const agent = startAgent();
    await connected(agent);
    await agent.stop();
    const before = (await readCredential(edge, namespace))?.config.token;
    const now = Date.now.bind(Date);
    Date.now = () => now() + 401_000; // a third of ten minutes is left
    closers.push(async () => Promise.resolve(void (Date.now = now)));
    const later = startAgent();
    await poll(
      async () => {
        const token = (await readCredential(edge, namespace))?.config.token;
        return token !== before ? token : undefined;
      },
      { what: 'another token' },
    );
    await connected(later);
    Date.now = now;
    const first = await seen();
    await poll(async () => (await seen()) !== first || undefined, { what: 'a heartbeat with the new token' });
  });
});
