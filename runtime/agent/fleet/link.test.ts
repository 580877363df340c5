import { rootCertificates } from 'node:tls';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { annotations } from '../../../api/fleet/constants.ts';
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import { formatHubAddress } from '../../../api/fleet/hub-address.ts';
import { ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { registrationSecretName } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import type { Call } from '../../../test/support/memory-cluster.ts';
import { MemoryCluster, refusal } from '../../../test/support/memory-cluster.ts';
import { silentLogger } from '../../kube/logger.ts';
import type { AgentContext } from './context.ts';
import type { AgentError } from './failure.ts';
import { establish } from './link.ts';
import { AgentStatus } from './status.ts';
import { News } from './news.ts';
import { Wake } from './wake.ts';

const server = 'https://hub.example:6443';
const bootstrapKey = { namespace: 'agents', name: 'fleet-agent-bootstrap' };
const credentialKey = { namespace: 'agents', name: 'fleet-agent' };
const registrations = 'cattle-fleet-clusters-system';
const signal = new AbortController().signal;

const secret = (key: { namespace: string; name: string }, data: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...key },
  data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Buffer.from(value).toString('base64')])),
});

/** An edge cluster that was given a token, and a hub that grants at once. */
class World {
  readonly edge = new MemoryCluster('https://edge');
  readonly hub = new MemoryCluster(server);
  readonly record = vi.fn();
  /** Tokens that the hub accepts from agents. */
  readonly valid = new Set<string>();
  grant = true;
  /** Where the hub says that it is. */
  announced: HubAddress | undefined;
  /** Calls with a token that is not valid. */
  refused = 0;
  #granted = 0;

  constructor() {
    this.edge.add(Namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kube-system', uid: 'the-uid' },
    });
    this.invite();
    this.hub.after = (call) => this.decide(call);
  }

  invite(workspace = 'fleet-default', token = 'bootstrap-token'): void {
    const values = {
      apiServerURL: server,
      apiServerCA: rootCertificates[0] ?? '',
      clusterNamespace: workspace,
      token,
      tokenName: 'tok',
    };
    this.edge.add(Secrets, secret(bootstrapKey, { ...values, systemRegistrationNamespace: registrations }));
  }

  /** The hub's part: answer each request that has no answer yet. */
  decide(call: Call): void {
    if (!this.grant || call.method === 'delete') return;
    for (const { metadata, spec } of this.hub.all(ClusterRegistrations)) {
      const name = registrationSecretName(spec?.clientID ?? '', spec?.clientRandom ?? '');
      const clusterNamespace = metadata.namespace ?? '';
      if (this.hub.one(Secrets, { namespace: registrations, name }) !== undefined) continue;
      const token = `granted-${++this.#granted}`;
      this.valid.add(token);
      const fields = { token, clusterNamespace, clusterName: 'east', deploymentNamespace: 'cluster-x' };
      this.hub.add(Secrets, secret({ namespace: registrations, name }, fields));
      const notes = this.announced === undefined ? {} : { [annotations.hubAddress]: formatHubAddress(this.announced) };
      const made = { namespace: clusterNamespace, name: 'east', annotations: notes };
      const cluster = { metadata: made, spec: {}, status: { namespace: 'x' } };
      this.hub.add(Clusters, { apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'Cluster', ...cluster } as never);
    }
  }

  /** A fresh process of the agent. */
  agent(): AgentContext {
    return {
      edge: this.edge.client(),
      namespace: 'agents',
      podName: 'pod',
      checkinIntervalMs: 1000,
      facts: () => Promise.resolve({}),
      status: new AgentStatus({ record: this.record, logger: silentLogger }),
      logger: silentLogger,
      wake: new Wake(),
      news: new News(),
      connect: (config) => {
        const client = this.hub.client();
        if (this.valid.has(config.token ?? '') || config.token === 'bootstrap-token') return client;
        const refuse = async (): Promise<never> => {
          this.refused++;
          return await Promise.reject(refusal(401, 'Unauthorized', 'x'));
        };
        return { ...client, patch: refuse };
      },
    };
  }

  lastSeen(): string | undefined {
    return this.hub.all(Clusters)[0]?.status?.agent?.lastSeen ?? undefined;
  }

  reasons(): string[] {
    return this.record.mock.calls.map((call) => String(call[1]));
  }
}

let world: World;
beforeEach(() => {
  world = new World();
});

describe('establish', () => {
  it('given a bootstrap Secret, then the cluster is registered, seen, and the token is gone from the edge', async () => {
    const link = await establish(world.agent(), signal);
    expect(link.credential).toMatchObject({ clusterName: 'east', clusterNamespace: 'fleet-default' });
    expect(world.hub.all(ClusterRegistrations)[0]?.spec).toMatchObject({
      clientID: 'the-uid',
      clusterLabels: { 'fleet.cattle.io/created-by-agent-pod': 'pod' },
    });
    expect(world.lastSeen()).toBeDefined();
    expect(world.edge.one(Secrets, bootstrapKey)).toBeUndefined();
    expect(world.reasons()).toEqual(['Registered']);
  });

  it('given a hub that moves meanwhile, then the agent is there with its first credential', async () => {
    world.announced = { url: 'https://hub.moved', ca: rootCertificates[0] ?? '' };
    const link = await establish(world.agent(), signal);
    expect(link.credential.config.server).toBe('https://hub.moved');
    expect(world.hub.all(ClusterRegistrations)).toHaveLength(1);
    expect(world.reasons()).toEqual(['Registered', 'HubFollowed']);
  });

  it('given clientID and labels in the ConfigMap, then the request carries them', async () => {
    const config = JSON.stringify({ clientID: 'mine', labels: { env: 'dev' } });
    world.edge.add(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...credentialKey },
      data: { config },
    });
    await establish(world.agent(), signal);
    expect(world.hub.all(ClusterRegistrations)[0]?.spec).toMatchObject({
      clientID: 'mine',
      clusterLabels: { env: 'dev' },
    });
  });

  it('given a stored credential that works, then nothing is asked of the hub but one heartbeat', async () => {
    await establish(world.agent(), signal);
    world.hub.calls.length = 0;
    await establish(world.agent(), signal);
    expect(world.hub.calls).toEqual([{ method: 'patch', what: 'clusters fleet-default/east' }]);
  });

  it('given a new bootstrap Secret for the same place, then it is removed unused', async () => {
    await establish(world.agent(), signal);
    world.invite();
    await establish(world.agent(), signal);
    expect(world.edge.one(Secrets, bootstrapKey)).toBeUndefined();
    expect(world.hub.all(ClusterRegistrations)).toHaveLength(1);
  });

  it('given a new bootstrap Secret for another workspace, then the cluster moves there', async () => {
    await establish(world.agent(), signal);
    world.invite('other');
    const link = await establish(world.agent(), signal);
    expect(link.credential.clusterNamespace).toBe('other');
    expect(world.edge.one(Secrets, bootstrapKey)).toBeUndefined();
  });

  it('given a move that fails, then the agent stays connected where it is and says why', async () => {
    await establish(world.agent(), signal);
    world.invite('other');
    world.hub.before = (call) => {
      if (call.method === 'create') throw refusal(403, 'Forbidden', call.what);
    };
    const link = await establish(world.agent(), signal);
    expect(link.credential.clusterNamespace).toBe('fleet-default');
    expect(world.reasons()).toContain('TokenForbidden');
  });

  it('given neither credential nor bootstrap Secret, then it says what is needed', async () => {
    world.edge.objects.delete('secrets agents/fleet-agent-bootstrap');
    await expect(establish(world.agent(), signal)).rejects.toMatchObject({ reason: 'BootstrapMissing' });
  });

  it('given a broken bootstrap Secret beside a credential that works, then the agent stays connected', async () => {
    await establish(world.agent(), signal);
    world.edge.add(Secrets, secret(bootstrapKey, { token: 'x' }));
    await establish(world.agent(), signal);
    expect(world.reasons()).toContain('BootstrapInvalid');
  });

  it('given a credential that the hub rejects and a bootstrap Secret, then it registers anew', async () => {
    await establish(world.agent(), signal);
    world.valid.clear();
    world.invite();
    const link = await establish(world.agent(), signal);
    expect(link.credential.config.token).toBe('granted-2');
    expect(world.reasons()).toContain('CredentialRejected');
  });

  it('given a rejected credential and no bootstrap Secret, then it says that it is rejected and keeps it', async () => {
    await establish(world.agent(), signal);
    world.valid.clear();
    await expect(establish(world.agent(), signal)).rejects.toMatchObject({ reason: 'CredentialRejected' });
    expect(world.edge.one(Secrets, credentialKey)).toBeDefined();
  });

  it('given a credential that was rejected before, then the hub is asked once more and not again and again', async () => {
    await establish(world.agent(), signal);
    world.valid.clear();
    const agent = world.agent();
    const failure = await establish(agent, signal).catch((error: unknown) => error as AgentError);
    agent.status.failed(failure as AgentError, 0);
    world.refused = 0;
    await expect(establish(agent, signal)).rejects.toMatchObject({ reason: 'CredentialRejected' });
    expect(world.refused).toBe(1);
  });

  it.each([
    ['the same content', false],
    ['a new token', true],
  ])('given a bootstrap Secret that is written with %s meanwhile, then it stays: %s', async (_, changed) => {
    await establish(world.agent(), signal);
    world.invite();
    world.hub.before = (call) => {
      if (call.method === 'patch') world.invite('fleet-default', changed ? 'another-token' : 'bootstrap-token');
    };
    await establish(world.agent(), signal);
    expect(world.edge.one(Secrets, bootstrapKey) !== undefined).toBe(changed);
  });

  it('given a credential and a hub in trouble, then nothing is given up', async () => {
    await establish(world.agent(), signal);
    world.invite();
    world.hub.before = (call) => {
      throw refusal(503, 'ServiceUnavailable', call.what);
    };
    await expect(establish(world.agent(), signal)).rejects.toMatchObject({ reason: 'HubBusy' });
    expect(world.edge.one(Secrets, bootstrapKey)).toBeDefined();
    expect(world.hub.calls.filter((call) => call.method === 'create')).toHaveLength(1);
  });

  it('given an unreadable credential and a bootstrap Secret, then it registers anew', async () => {
    world.edge.add(Secrets, secret(credentialKey, { kubeconfig: '{' }));
    await establish(world.agent(), signal);
    expect(world.reasons()).toEqual(['CredentialInvalid', 'Registered']);
  });

  it('given rights that land after the credential, then it waits for them within the same request', async () => {
    let refusals = 5;
    world.hub.before = (call) => {
      if (call.method === 'patch' && refusals-- > 0) throw refusal(403, 'Forbidden', call.what);
    };
    await establish(world.agent(), signal);
    expect(world.hub.all(ClusterRegistrations)).toHaveLength(1);
    expect(world.lastSeen()).toBeDefined();
  });

  it('given a kill at any call, before or after it took effect, then a restart ends in one registration', async () => {
    for (const moment of ['before', 'after'] as const) {
      for (let at = 0, finished = false; !finished; at++) {
        world = new World();
        finished = await diesAt(world, moment, at);
        world.edge.before = world.edge.after = world.hub.before = () => undefined;
        world.hub.after = (call) => world.decide(call);
        await establish(world.agent(), signal);
        const context = `killed ${moment} call ${at}`;
        expect(world.hub.all(ClusterRegistrations), context).toHaveLength(1);
        expect(world.edge.one(Secrets, bootstrapKey), context).toBeUndefined();
        expect(world.lastSeen(), context).toBeDefined();
        expect(at).toBeLessThan(40);
      }
    }
  });

  it('given a hundred kills before the hub answers, then there is one registration', async () => {
    world.grant = false;
    for (let run = 0; run < 100; run++) {
      await diesAt(world, 'after', 3 + (run % 3));
    }
    expect(world.hub.all(ClusterRegistrations)).toHaveLength(1);
    world.grant = true;
    world.edge.before = world.edge.after = world.hub.before = () => undefined;
    world.hub.after = (call) => world.decide(call);
    await establish(world.agent(), signal);
    expect(world.hub.all(ClusterRegistrations)).toHaveLength(1);
  });
});

/** Runs a process that is killed around its call number `at`; true when it finished before. */
async function diesAt(subject: World, moment: 'before' | 'after', at: number): Promise<boolean> {
  let calls = 0;
  let dead = false;
  const step = (when: 'before' | 'after') => (call: Call) => {
    if (when === 'after' && !dead) subject.decide(call);
    if (when === 'before' && !dead) calls++;
    if (when === moment && calls > at) dead = true;
    if (dead) throw new Error('killed');
  };
  for (const cluster of [subject.edge, subject.hub])
    Object.assign(cluster, { before: step('before'), after: step('after') });
  try {
    await establish(subject.agent(), signal);
    return true;
  } catch (error) {
    if (!dead) throw error;
    return false;
  }
}
