import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapSecretData, parseValues, readBootstrapSecret } from '../../../api/fleet/bootstrap-values.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { Leases } from '../../../api/kubernetes/workloads.ts';
import { synthAgent } from '../../../components/fleet/index.ts';
import { ControlPlane, poll } from '../../../test/harness/index.ts';
import { httpGet } from '../../../test/harness/http-get.ts';
import { claimPort } from '../../../test/harness/run/claims.ts';
import type { HubPlane } from '../../../test/support/hub-plane.ts';
import { applyAll, startHubPlane } from '../../../test/support/hub-plane.ts';
import { runHub } from '../../hub/fleet/hub.ts';
import type { KubeClient } from '../../kube/client.ts';
import { runAgent } from './agent.ts';
import { readCredential } from './credential.ts';
import { renewCredential } from './renewal.ts';

const namespace = 'cattle-fleet-system';
const workspace = 'fleet-default';
const election = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 200 };

let hub: HubPlane;
let edgePlane: ControlPlane;
let edge: KubeClient;
let agentToken = '';
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [hub, edgePlane] = await Promise.all([
    startHubPlane('hub'),
    ControlPlane.start({ name: 'edge', controllerManager: false }),
  ]);
  edge = edgePlane.client();
  const config = { apiServerURL: hub.plane.server, apiServerCA: Buffer.from(hub.plane.ca).toString('base64') };
  await hub.admin.patch(
    { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
    { namespace, name: 'fleet-controller' },
    { data: { config: JSON.stringify(config) } },
    { type: 'merge' },
  );
  await applyAll(edge, synthAgent({ image: 'muster:test', namespace }));
  const account = { namespace, name: 'fleet-agent' };
  agentToken = (await edge.createToken(account, { expirationSeconds: 3600 })).token;
  const stop = new AbortController();
  const running = runHub({ client: hub.hub, namespace }, stop.signal);
  running.catch(() => undefined);
  closers.push(async () => {
    stop.abort();
    await running;
  });
});

const endOfTest: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of endOfTest.splice(0).reverse()) await close();
});

afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await edge.close();
  await Promise.all([hub.close(), edgePlane.close()]);
});

beforeEach(async () => {
  for (const { metadata } of await clusters()) {
    await hub.admin.delete(Clusters, { namespace: workspace, name: metadata.name ?? '' });
  }
  await poll(async () => ((await clusters()).length === 0 ? true : undefined), { what: 'the Clusters to go' });
  for (const name of ['fleet-agent', 'fleet-agent-bootstrap']) await edge.delete(Secrets, { namespace, name });
});

async function clusters(): Promise<Cluster[]> {
  return (await hub.admin.list(Clusters, { namespace: workspace })).items;
}

/** Makes a token on the hub and applies its values at the edge. */
async function invite(): Promise<void> {
  const metadata = { namespace: workspace, name: 'tok' };
  await hub.admin.apply(
    ClusterRegistrationTokens,
    { apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'ClusterRegistrationToken', metadata, spec: { ttl: '1h' } },
    { fieldManager: 'test' },
  );
  const values = await poll(async () => await hub.admin.find(Secrets, metadata), { what: 'the values Secret' });
  expect(readBootstrapSecret(values).apiServerURL).toBe(hub.plane.server);
  const { data } = values;
  await edge.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'fleet-agent-bootstrap' },
    ...(data === undefined ? {} : { data }),
  });
}

function startAgent(podName: string, probeAddress?: string): { stop: () => Promise<void> } {
  const client = edgePlane.clientFor(agentToken);
  const controller = new AbortController();
  const options = { edge: client, namespace, podName, election, checkinIntervalMs: 60_000 };
  const running = runAgent({ ...options, ...(probeAddress === undefined ? {} : { probeAddress }) }, controller.signal);
  running.catch(() => undefined);
  const stop = async (): Promise<void> => {
    controller.abort();
    await running;
    await client.close();
  };
  endOfTest.push(stop);
  return { stop };
}

const isSeen = (list: Cluster[]): boolean => list.some((cluster) => cluster.status?.agent?.lastSeen);
const seen = () => poll(async () => (isSeen(await clusters()) ? true : undefined), { what: 'the cluster to be seen' });
const holder = async (): Promise<string> =>
  (await edge.find(Leases, { namespace, name: 'fleet-agent' }))?.spec?.holderIdentity ?? '';
const registrations = async (): Promise<number> => (await hub.admin.list(ClusterRegistrations)).items.length;

describe('runAgent against our hub, each as its own ServiceAccount', () => {
  it('given an invitation, then the cluster is seen, an Event says so, the lease is held and given back', async () => {
    await invite();
    const agent = startAgent('pod-a');
    await seen();
    expect(await holder()).toBe('pod-a');
    const [cluster] = await clusters();
    expect(cluster?.metadata.labels).toMatchObject({ 'fleet.cattle.io/created-by-agent-pod': 'pod-a' });
    expect(cluster?.status?.agent?.namespace).toBe(namespace);
    expect(cluster?.status?.agent).toMatchObject({ kubernetesVersion: expect.stringMatching(/^v1\./), nodes: 0 });
    await poll(
      async () => {
        const events = (await edge.raw(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`)) as {
          items: { reason: string; regarding: { kind: string; name: string; uid?: string } }[];
        };
        return events.items.find(({ reason, regarding }) => reason === 'Registered' && regarding.kind === 'Deployment');
      },
      { what: 'the Event on the Deployment' },
    );
    expect(await edge.find(Secrets, { namespace, name: 'fleet-agent-bootstrap' })).toBeUndefined();
    await agent.stop();
    expect(await holder()).toBe('');
  });

  it('given two agents, then one works and the other takes over when it ends, without registering again', async () => {
    await invite();
    const first = startAgent('pod-a');
    await seen();
    startAgent('pod-b');
    await first.stop();
    await poll(async () => ((await holder()) === 'pod-b' ? true : undefined), { what: 'pod-b to lead' });
    expect(await registrations()).toBe(1);
  });

  it('given the credential of our hub, then the agent may renew it', async () => {
    await invite();
    startAgent('pod-a');
    await seen();
    const credential = (await readCredential(edge, namespace)) ?? expect.fail('no credential');
    const client = hub.plane.clientFor(credential.config.token ?? '');
    endOfTest.push(() => client.close());
    const renewed = await renewCredential(client, credential);
    expect(renewed.config.token).not.toBe(credential.config.token);
  });

  it('given a hub that is not there, then /readyz says so in words, without the token', async () => {
    await invite();
    const { data } = await edge.get(Secrets, { namespace, name: 'fleet-agent-bootstrap' });
    const port = await claimPort();
    endOfTest.push(async () => Promise.resolve(port.release()));
    const values = parseValues(Buffer.from(data?.['values'] ?? '', 'base64').toString());
    const elsewhere = bootstrapSecretData({ ...values, apiServerURL: 'https://127.0.0.1:1' });
    await edge.delete(Secrets, { namespace, name: 'fleet-agent-bootstrap' });
    const metadata = { namespace, name: 'fleet-agent-bootstrap' };
    await edge.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: elsewhere });
    startAgent('pod-a', `127.0.0.1:${port.value}`);
    const text = await poll(
      async () => {
        const answer = await httpGet({ server: `http://127.0.0.1:${port.value}` }, '/readyz');
        return answer?.text.includes('HubUnreachable') ? answer.text : undefined;
      },
      { what: '/readyz to name the fault' },
    );
    expect(text).toContain('https://127.0.0.1:1');
    expect(text).not.toContain(values.token);
  });

  it('given an agent process killed again and again, then it ends registered, once', async () => {
    await invite();
    const dir = mkdtempSync(join(tmpdir(), 'muster-agent-'));
    endOfTest.push(async () => Promise.resolve(rmSync(dir, { recursive: true })));
    const kubeconfig = join(dir, 'kubeconfig');
    writeFileSync(kubeconfig, edgePlane.kubeconfigFor({ token: agentToken }));
    for (let run = 0; run < 8; run++) {
      const child = spawn(process.execPath, ['cli/main.ts', 'agent', '--kubeconfig', kubeconfig], {
        env: {
          ...process.env,
          POD_NAME: 'pod-a',
          FLEET_AGENT_PROBE_BIND_ADDRESS: '0',
          FLEET_AGENT_METRICS_BIND_ADDRESS: '0',
        },
        stdio: 'ignore',
      });
      const exited = once(child, 'exit');
      await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 300 + run * 100))]);
      child.kill('SIGKILL');
      await exited;
    }
    startAgent('pod-a');
    await seen();
    expect(await registrations()).toBe(1);
    expect(await clusters()).toHaveLength(1);
  });
});
