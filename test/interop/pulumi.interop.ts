/** Our Pulumi resources at Fleet's hub. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { labels } from '../../api/fleet/constants.ts';
import { ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import type { ResourceType } from '../../api/resource.ts';
import { poll } from '../harness/index.ts';
import { DynamicHost, inputsOf } from '../pulumi/dynamic-host.ts';
import { ScriptedWorkloads, withoutDeployments } from '../pulumi/scripted-workloads.ts';
import { workspace } from '../support/registering.ts';
import { InteropEdge } from './edge.ts';
import { startFleetHub } from './fleet-hub.ts';
import type { FleetHub } from './fleet-hub.ts';
import { gone } from './sights.ts';

let hub: FleetHub;
let edge: InteropEdge;
let workloads: ScriptedWorkloads;
let host: DynamicHost;

beforeAll(async () => {
  hub = await startFleetHub();
  edge = await InteropEdge.start('edge', withoutDeployments);
  workloads = new ScriptedWorkloads(edge.client);
  host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': hub.plane.kubeconfig } });
});
afterAll(async () => {
  await host?.close();
  await workloads?.close();
  await edge?.close();
  await hub?.close();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), hub.logs(), host.output);
  await edge.clean();
});

async function expectNothingLeft(name: string): Promise<void> {
  const kinds: readonly ResourceType[] = [Clusters, ClusterRegistrationTokens, ClusterRegistrations];
  for (const type of kinds) expect((await hub.admin.list(type)).items).toEqual([]);
  const namespace = { name: clusterNamespace(workspace, name) };
  await gone(() => hub.admin.find(Namespaces, namespace), 'its namespace');
  const secrets = await hub.admin.list(Secrets, { namespace: workspace });
  expect(secrets.items.map(({ metadata }) => metadata.name)).toEqual([]);
}

test("a Cluster by kubeconfig, with Fleet's agent", async () => {
  edge.runDeployed('fleet');
  const east = await host.create(
    inputsOf('Cluster', { metadata: { name: 'east', labels: { env: 'demo' } }, kubeconfig: edge.plane.kubeconfig }),
  );
  expect(east.initErrors).toBeUndefined();
  expect(east.outputs).toMatchObject({ ready: true, namespace: clusterNamespace(workspace, 'east') });
  const refreshed = await host.read(east);
  expect(refreshed?.inputs).toEqual(east.inputs);
  expect(await host.diff(refreshed ?? east, east.inputs)).toMatchObject({ changes: 'none' });

  const renamed = { ...east.inputs, metadata: { name: 'east', namespace: workspace, labels: { env: 'prod' } } };
  const updated = await host.update(east, renamed);
  expect(updated.initErrors).toBeUndefined();
  expect((await hub.admin.get(Clusters, { namespace: workspace, name: 'east' })).metadata.labels).toMatchObject({
    env: 'prod',
  });

  const selector = { matchLabels: { env: 'prod' } };
  const group = await host.create(inputsOf('ClusterGroup', { metadata: { name: 'prod' }, selector }));
  expect(group.initErrors).toBeUndefined();
  const counted = await poll(
    async () => {
      const found = await host.read(group);
      return found?.outputs['readyClusterCount'] === 1 ? found : undefined;
    },
    { what: 'the count of the group' },
  );
  expect(counted.outputs).toMatchObject({ clusterCount: 1, nonReadyClusterCount: 0, nonReadyClusters: [] });
  expect(await host.diff(counted, group.inputs)).toMatchObject({ changes: 'none' });
  await host.delete(group);

  await host.delete(updated);
  await expectNothingLeft('east');
});

test('a token, a declared Cluster and a release of our agent', async () => {
  // Without the label Fleet's hub would wait for this agent to become Fleet's own, by a bundle.
  const metadata = { name: 'west', labels: { [labels.nonManagedAgent]: 'true' } };
  const west = await host.create(inputsOf('Cluster', { metadata }, 'west'));
  const token = await host.create(inputsOf('ClusterRegistrationToken', { metadata: { name: 'west' }, ttl: '1h' }));
  expect(token.initErrors).toBeUndefined();
  edge.runDeployed('muster');
  const agent = await host.create(
    inputsOf('AgentRelease', {
      kubeconfig: edge.plane.kubeconfig,
      values: token.outputs['values'],
      clientID: west.inputs['clientID'],
      cluster: { name: 'west', namespace: workspace },
      image: 'muster:test',
    }),
  );
  expect(agent.initErrors).toBeUndefined();
  expect((await host.read(west))?.outputs).toMatchObject({ ready: true });
  expect(await host.diff(agent, agent.inputs)).toMatchObject({ changes: 'none' });
  expect((await host.read(agent))?.outputs).toMatchObject({ drift: [], ready: true });

  await host.delete(agent);
  await host.delete(token);
  await host.delete(west);
  await expectNothingLeft('west');
});

test("a release of Fleet's agent, which Fleet's hub takes for its own", async () => {
  const south = await host.create(inputsOf('Cluster', { metadata: { name: 'south' } }, 'south'));
  const token = await host.create(inputsOf('ClusterRegistrationToken', { metadata: { name: 'south' }, ttl: '1h' }));
  edge.runDeployed('fleet');
  const agent = await host.create(
    inputsOf('AgentRelease', {
      kubeconfig: edge.plane.kubeconfig,
      values: token.outputs['values'],
      clientID: south.inputs['clientID'],
      cluster: { name: 'south', namespace: workspace },
      program: 'fleet',
      image: 'agents.test/f:1',
    }),
  );
  expect(agent.initErrors).toBeUndefined();
  expect(agent.outputs).toMatchObject({ deploysWorkloads: true, ready: true });
  await host.delete(agent);
  await host.delete(token);
  await host.delete(south);
  await expectNothingLeft('south');
});

test('a HubRelease keeps away, whatever is left of the Deployments', async () => {
  const inputs = inputsOf('HubRelease', { image: 'muster:test', config: { apiServerURL: hub.plane.server } }, 'hub');
  await expect(host.create(inputs)).rejects.toThrow(/\[ALREADY_OWNED\].*fleet-controller.*leave out HubRelease/);
});
