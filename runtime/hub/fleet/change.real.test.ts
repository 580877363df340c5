import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapSecretData } from '../../../api/fleet/bootstrap-values.ts';
import { annotations, hubAddressKey, secretNames } from '../../../api/fleet/constants.ts';
import { certificatesOf } from '../../../api/fleet/hub-address.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import { ControlPlane, poll } from '../../../test/harness/index.ts';
import {
  cluster,
  clusterThat,
  condition,
  createToken,
  valuesOf,
  workspace,
} from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../../../test/support/running-hub.ts';
import { runAgent } from '../../agent/fleet/agent.ts';
import type { KubeClient } from '../../kube/client.ts';
import { parseKubeconfig } from '../../kube/kubeconfig.ts';

const name = 'east';
const key = { namespace: workspace, name };
const other = rootCertificates[0] ?? '';
let hub: RunningHub;
let edge: ControlPlane;
let downstream: KubeClient;
let agent: Playing | undefined;

/** An agent as a pod would run it. */
class Playing {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  constructor(namespace: string, checkinIntervalMs = 1000) {
    const options = { edge: downstream, namespace, leaderElect: false, checkinIntervalMs };
    this.#running = runAgent(options, this.#stop.signal);
  }
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

beforeAll(async () => {
  [hub, edge] = await Promise.all([startRunningHub('change'), ControlPlane.start({ name: 'edge' })]);
  downstream = edge.client();
  const metadata = { name: 'east-kubeconfig', namespace: workspace };
  const kubeconfig = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { value: edge.kubeconfig } };
  await hub.admin.apply(Secrets, kubeconfig, { fieldManager: 'test' });
  await hub.admin.create(Clusters, cluster(name, { kubeConfigSecret: 'east-kubeconfig' }));
  await imported();
  agent = new Playing(systemNamespace);
  await ready();
});
afterAll(async () => {
  await agent?.end();
  await downstream?.close();
  await Promise.all([hub?.close(), edge?.close()]);
});

const that = (look: (c: Cluster) => boolean, what: string) => clusterThat(hub, name, look, what);
const imported = () => that((c) => condition(c, 'Imported')?.status === 'True', 'Imported');
const ready = () => that((c) => condition(c, 'Ready')?.status === 'True', 'Ready');
const set = (spec: Cluster['spec']) => hub.admin.patch(Clusters, key, { spec }, { type: 'merge' });
const deployment = (namespace = systemNamespace) => downstream.get(Deployments, { namespace, name: 'fleet-agent' });
const rollouts = async (namespace = systemNamespace) => (await deployment(namespace)).metadata.generation ?? 0;
const requests = async () => (await hub.admin.list(ClusterRegistrations, { namespace: workspace })).items.length;
const refusedWith = (reason: string) => that((c) => condition(c, 'Imported')?.reason === reason, reason);

/** Where the agent's stored credential says that the hub is. */
async function stored(namespace = systemNamespace) {
  const secret = await downstream.find(Secrets, { namespace, name: secretNames.agent });
  const text = Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64');
  return secret === undefined ? undefined : parseKubeconfig(text, { policy: 'hub' });
}

/** Changes settings and waits until the hub has come to rest. */
async function changed(spec: Cluster['spec']): Promise<number> {
  const before = await rollouts();
  await set(spec);
  await hub.quiet();
  await imported();
  return (await rollouts()) - before;
}

describe('a changed setting of a registered agent', () => {
  it('given an agent that was installed and has registered, when all is quiet, then it was rolled out once (fleet#1388, fleet#1679)', async () => {
    await hub.quiet();
    expect(await rollouts()).toBe(1);
    expect(await requests()).toBe(1);
  });

  it('given tolerations, variables and resources, when changed, then one rollout each; permuted, none', async () => {
    const tolerations = [
      { key: 'a', operator: 'Exists' },
      { key: 'b', operator: 'Exists' },
    ];
    const variables = [
      { name: 'HTTPS_PROXY', value: 'x' },
      { name: 'A', value: 'y' },
    ];
    expect(await changed({ agentTolerations: tolerations, agentEnvVars: variables })).toBe(1);
    const writes = await hub.writes();
    const permuted = { agentTolerations: tolerations.toReversed(), agentEnvVars: variables.toReversed() };
    expect(await changed(permuted)).toBe(0);
    expect(await hub.writes()).toBe(writes);
    expect(await changed({ agentResources: { requests: { cpu: '30m' } }, privateRepoURL: 'registry.example' })).toBe(1);
    expect(await requests()).toBe(1);
  }, 60_000);

  it('given redeployAgentGeneration, when raised by one, then exactly one rollout (fleet#248)', async () => {
    expect(await changed({ redeployAgentGeneration: 1 })).toBe(1);
    expect(await requests()).toBe(1);
  }, 60_000);

  it('given paused, then deliveries would wait, and nothing about the agent changes; its settings still do', async () => {
    const writes = await hub.writes();
    expect(await changed({ paused: true })).toBe(0);
    expect(await hub.writes()).toBe(writes);
    expect(await changed({ agentEnvVars: [{ name: 'WHILE', value: 'paused' }] })).toBe(1);
    await ready();
    expect(await changed({ paused: false, agentEnvVars: [] })).toBe(1);
    expect(await requests()).toBe(1);
  }, 60_000);

  it('given hostNetwork, then pods do not overlap (fleet#4432)', async () => {
    await changed({ hostNetwork: true });
    expect((await deployment()).spec).toMatchObject({ strategy: { type: 'Recreate' } });
    await changed({ hostNetwork: false });
  }, 60_000);

  it('given settings that exclude each other or are refused, then the Cluster says so, and the agent stays', async () => {
    const budget = (minAvailable: string, maxUnavailable: string) => ({
      agentSchedulingCustomization: { podDisruptionBudget: { minAvailable, maxUnavailable } },
    });
    const before = await rollouts();
    await set(budget('1', '1'));
    await refusedWith('InvalidSpec');
    await set({ agentSchedulingCustomization: null, agentNamespace: 'kube-public' });
    await refusedWith('InvalidSpec');
    await set({ agentNamespace: '' });
    await imported();
    expect(await rollouts()).toBe(before);
  }, 60_000);
});

describe('agentTLSMode', () => {
  it('given a word that is none, then imports say so; strict, then the CA of the kubeconfig is enough', async () => {
    await hub.configure({ agentTLSMode: 'sometimes' });
    await refusedWith('InvalidSpec');
    await hub.configure({ agentTLSMode: 'strict' });
    await imported();
    await hub.configure({});
    await hub.quiet();
    await imported();
  }, 60_000);
});

describe('pull Secrets', () => {
  const pull = (namespace: string, text: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'registry', namespace },
    data: { auth: Buffer.from(text).toString('base64') },
  });

  it('given global ones, then they are copied and followed; given the Cluster’s own, then they are used as they are', async () => {
    await hub.admin.create(Secrets, pull(systemNamespace, 'one'));
    await hub.configure({ imagePullSecrets: [{ name: 'registry' }] });
    const copy = (text: string) =>
      poll(
        async () => {
          const found = await downstream.find(Secrets, { namespace: systemNamespace, name: 'registry' });
          return Buffer.from(found?.data?.['auth'] ?? '', 'base64').toString() === text ? true : undefined;
        },
        { what: `the copy ${text}` },
      );
    await copy('one');
    await hub.admin.apply(Secrets, pull(systemNamespace, 'two'), { fieldManager: 'test' });
    await copy('two');
    await changed({ agentPullSecrets: [{ name: 'own' }] });
    const { template } = (await deployment()).spec;
    expect(template.spec).toMatchObject({ imagePullSecrets: [{ name: 'own' }] });
    await hub.configure({});
  }, 60_000);
});

describe('the hub’s CA', () => {
  it('given a new one beside the old one, then every agent and every values Secret has it, without restart or request (fleet#2616, rancher#33323, rancher#37131)', async () => {
    await createToken(hub, 'tok');
    const data = bootstrapSecretData(await valuesOf(hub, 'tok'));
    await downstream.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'by-token' } });
    const metadata = { namespace: 'by-token', name: secretNames.bootstrap };
    await downstream.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data });
    // its heartbeats come a quarter of an hour apart, so it is not by them that it learns of this
    const second = new Playing('by-token', 15 * 60_000);
    await poll(() => stored('by-token'), { what: 'the registration of the second agent' });
    await hub.quiet();
    const before = { rollouts: await rollouts(), requests: await requests() };
    const both = certificatesOf(hub.plane.ca, other);

    await hub.configure({ apiServerCA: Buffer.from(both.join('\n')).toString('base64') });
    await poll(async () => (certificatesOf((await stored())?.ca ?? '').length === 2 ? true : undefined), {
      what: 'the CA in the agent’s credential',
    });
    expect(certificatesOf((await stored())?.ca ?? '')).toEqual(both);
    expect(certificatesOf((await valuesOf(hub, 'tok')).apiServerCA)).toEqual(both);
    await poll(async () => (certificatesOf((await stored('by-token'))?.ca ?? '').length === 2 ? true : undefined), {
      what: 'the CA in the credential of the agent that came by a token',
    });

    await hub.configure({});
    await poll(async () => (certificatesOf((await stored())?.ca ?? '').length === 1 ? true : undefined), {
      what: 'the old CA gone',
    });
    await poll(async () => (certificatesOf((await stored('by-token'))?.ca ?? '').length === 1 ? true : undefined), {
      what: 'the old CA gone from the other, too',
    });
    await second.end();
    expect({ rollouts: await rollouts(), requests: await requests() }).toEqual(before);
    await ready();
  }, 60_000);

  it('given one for this Cluster in its kubeconfig Secret, then it goes before the hub’s', async () => {
    const both = certificatesOf(hub.plane.ca, other).join('\n');
    const patch = { stringData: { apiServerURL: hub.plane.server, apiServerCA: both } };
    await hub.admin.patch(Secrets, { namespace: workspace, name: 'east-kubeconfig' }, patch, { type: 'merge' });
    await poll(async () => (certificatesOf((await stored())?.ca ?? '').length === 2 ? true : undefined), {
      what: 'the CA in the agent’s credential',
    });
    const map = await downstream.get(ConfigMaps, { namespace: systemNamespace, name: 'fleet-agent' });
    expect(map.data?.[hubAddressKey]).toContain(hub.plane.server);
    expect(await ready()).toBeDefined();
  }, 60_000);
});

describe('a bad configuration', () => {
  const config = { namespace: systemNamespace, name: 'fleet-controller' };
  const write = (text: string, version?: string) =>
    hub.admin.patch(
      ConfigMaps,
      config,
      { data: { config: text }, ...(version ? { metadata: { annotations: { [annotations.version]: version } } } : {}) },
      { type: 'merge' },
    );

  it('given no JSON, or that of another version, then the last good one stays in force', async () => {
    const before = await valuesOf(hub, 'tok');
    const { apiServerURL: _, ...rest } = before;
    await write('{[');
    await write('{"apiServerURL":"https://elsewhere"}', 'another');
    await hub.quiet();
    expect(await valuesOf(hub, 'tok')).toEqual({ ...rest, apiServerURL: hub.plane.server });
    await hub.configure({});
  });
});

describe('another namespace for the agent', () => {
  it('given a registered agent, when it moves, then it takes its registration along, and the old one goes when the new one reports', async () => {
    const before = await requests();
    const token = (await stored())?.token;
    await set({ agentNamespace: 'agents' });
    await poll(() => downstream.find(Deployments, { namespace: 'agents', name: 'fleet-agent' }), {
      what: 'the new one',
    });
    expect((await stored('agents'))?.token).toBe(token);
    await hub.quiet();
    expect(await deployment()).toBeDefined();
    await agent?.end();
    agent = new Playing('agents');
    await that((c) => c.status?.agent?.namespace === 'agents', 'at home');
    await poll(
      async () => ((await downstream.find(Namespaces, { name: systemNamespace })) === undefined ? true : undefined),
      { what: 'the end of the old namespace' },
    );
    expect(await requests()).toBe(before);
    expect(await deployment('agents')).toBeDefined();
  }, 60_000);
});

describe('a Cluster of another manager', () => {
  it('given the label cluster-management, then nothing is done for it', async () => {
    const labels = { 'fleet.cattle.io/cluster-management': 'x' };
    await hub.admin.create(Clusters, cluster('theirs', { kubeConfigSecret: 'east-kubeconfig' }, { labels }));
    await hub.quiet();
    const found = await hub.admin.get(Clusters, { namespace: workspace, name: 'theirs' });
    expect(found.status?.conditions ?? []).toEqual([]);
    expect(found.metadata.finalizers ?? []).toEqual([]);
  });
});

describe('an agent that never reported', () => {
  it('given settings with which it cannot run, when corrected, then they are applied (fleet PR#1567)', async () => {
    const agentNamespace = 'never';
    const spec = { kubeConfigSecret: 'east-kubeconfig', agentNamespace, agentTolerations: [{ key: 'wrong' }] };
    await hub.admin.create(Clusters, cluster('never', spec));
    await clusterThat(hub, 'never', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    const corrected = { spec: { agentTolerations: [{ key: 'right', operator: 'Exists' }] } };
    await hub.admin.patch(Clusters, { namespace: workspace, name: 'never' }, corrected, { type: 'merge' });
    const applied = await poll(
      async () => {
        const found = await deployment(agentNamespace);
        return JSON.stringify(found.spec).includes('right') ? found : undefined;
      },
      { what: 'the correction' },
    );
    expect(applied.metadata.generation).toBe(2);
  }, 60_000);
});

describe('localAgentDisabled', () => {
  it('given a kubeconfig of Cluster local that leads to another cluster, then no agent is removed there', async () => {
    const [namespace, agentNamespace] = ['fleet-local', 'local-agents'];
    const metadata = { name: 'local-cluster', namespace };
    const stringData = { value: edge.kubeconfig };
    await hub.admin.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, stringData } as never);
    const spec = { kubeConfigSecret: 'local-cluster', agentNamespace };
    await hub.admin.create(Clusters, cluster('local', spec, { namespace }));
    const localThat = (look: (c: Cluster) => boolean) =>
      poll(
        async () => {
          const found = await hub.admin.get(Clusters, { namespace, name: 'local' });
          return look(found) ? found : undefined;
        },
        { what: 'Cluster local' },
      );
    await localThat((c) => condition(c, 'Imported')?.status === 'True');
    await hub.configure({ bootstrap: { namespace, agentNamespace, localAgentDisabled: true } });
    await localThat((c) => condition(c, 'Imported')?.reason === 'SelfRegistration');
    expect(await deployment(agentNamespace)).toBeDefined();
  }, 60_000);
});
