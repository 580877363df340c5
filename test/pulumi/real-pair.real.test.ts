import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentNames } from '../../api/fleet/constants.ts';
import { ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import type { ResourceType } from '../../api/resource.ts';
import { awaitObject } from '../../provider/await-object.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import { runAgent } from '../../runtime/agent/fleet/agent.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane, poll } from '../harness/index.ts';
import { leftOver, takeInventory } from '../harness/inventory.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { DynamicHost, inputsOf } from './dynamic-host.ts';
import { ScriptedWorkloads, withoutDeployments } from './scripted-workloads.ts';

const workload = { namespace: 'cattle-fleet-system', name: agentNames.deployment };

let hub: RunningHub;
let edge: ControlPlane;
let client: KubeClient;
let workloads: ScriptedWorkloads;
let host: DynamicHost;

beforeAll(async () => {
  [hub, edge] = await Promise.all([
    startRunningHub('hub'),
    ControlPlane.start({ name: 'edge', controllerManagerArgs: withoutDeployments }),
  ]);
  await edge.whenWorking();
  client = edge.client();
  workloads = new ScriptedWorkloads(client);
  host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': hub.plane.kubeconfig } });
}, 180_000);
afterAll(async () => {
  await host?.close();
  await workloads?.close();
  await client?.close();
  await Promise.all([hub?.close(), edge?.close()]);
});

/** Runs the agent while its Deployment is there. */
async function agentWhileDeployed(): Promise<void> {
  const signal = AbortSignal.timeout(100_000);
  await awaitObject(client, Deployments, workload, (found) => found !== undefined, { signal });
  const ending = new AbortController();
  const running = runAgent({ edge: client, namespace: workload.namespace, leaderElect: false }, ending.signal);
  await awaitObject(
    client,
    Deployments,
    workload,
    (found) => found?.metadata.deletionTimestamp !== undefined || !found,
    {
      signal,
    },
  );
  ending.abort();
  await running;
}

test('our hub and agent: by kubeconfig, then by token, each ready and each gone without a trace', async () => {
  const before = await takeInventory(client);
  const hubBefore = await takeInventory(hub.admin);
  const byKubeconfig = agentWhileDeployed();
  const east = await host.create(
    inputsOf('Cluster', { metadata: { name: 'east', labels: { env: 'demo' } }, kubeconfig: edge.kubeconfig }),
  );
  expect(east.initErrors).toBeUndefined();
  expect(east.outputs).toMatchObject({ ready: true, namespace: clusterNamespace('fleet-default', 'east') });
  const refreshed = await host.read(east);
  expect(refreshed?.inputs).toEqual(east.inputs);
  expect(await host.diff(refreshed ?? east, east.inputs)).toMatchObject({ changes: 'none' });
  const selector = { matchLabels: { env: 'demo' } };
  const group = await host.create(inputsOf('ClusterGroup', { metadata: { name: 'demo' }, selector }));
  expect(group.outputs).toMatchObject({ clusterCount: 1, readyClusterCount: 1, nonReadyClusters: [] });
  await host.delete(group);
  await host.delete(east);
  await byKubeconfig;
  expect(leftOver(before, await takeInventory(client))).toEqual([]);

  const byToken = agentWhileDeployed();
  const west = await host.create(inputsOf('Cluster', { metadata: { name: 'west' } }, 'west'));
  const token = await host.create(inputsOf('ClusterRegistrationToken', { metadata: { name: 'west' }, ttl: '1h' }));
  const agent = await host.create(
    inputsOf('AgentRelease', {
      kubeconfig: edge.kubeconfig,
      values: token.outputs['values'],
      clientID: west.inputs['clientID'],
      cluster: { name: 'west', namespace: 'fleet-default' },
      image: 'muster:test',
    }),
  );
  expect(agent.initErrors).toBeUndefined();
  expect((await host.read(west))?.outputs).toMatchObject({ ready: true });
  expect(await host.diff(agent, agent.inputs)).toMatchObject({ changes: 'none' });
  expect((await host.read(agent))?.outputs).toMatchObject({ drift: [], ready: true });

  await host.delete(agent);
  await byToken;
  await host.delete(token);
  await host.delete(west);
  expect(leftOver(before, await takeInventory(client))).toEqual([]);
  const kinds: readonly ResourceType[] = [Clusters, ClusterRegistrationTokens, ClusterRegistrations];
  for (const type of kinds) {
    expect((await hub.admin.list(type)).items).toEqual([]);
  }
  // In the workspace nothing is left, and no cluster namespace. The garbage collector takes half a minute to learn of
  // kinds that have just been defined.
  const left = async (): Promise<string[]> =>
    leftOver(hubBefore, await takeInventory(hub.admin)).filter(
      (line) => /^(namespaces|\S+ fleet-default\/)/.test(line) && !/events/.test(line),
    );
  await poll(async () => ((await left()).length === 0 ? true : undefined), {
    what: 'the garbage collector',
    limitMs: 180_000,
  });
  expect(await client.find(Namespaces, { name: workload.namespace })).toBeUndefined();
  expect(
    (await hub.admin.list(Secrets, { namespace: 'fleet-default' })).items.filter(({ type }) => type === 'Opaque'),
  ).toEqual([]);
}, 360_000);
