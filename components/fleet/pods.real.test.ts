import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pods, Secrets } from '../../api/kubernetes/core.ts';
import type { Pod } from '../../api/kubernetes/core.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import { Clusters, ClusterRegistrationTokens } from '../../api/fleet/kinds.ts';
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { nodeSupport, poll } from '../../test/harness/index.ts';
import { startLocalCluster } from '../../test/harness/local-cluster.ts';
import type { LocalCluster } from '../../test/harness/local-cluster.ts';
import { applyAll } from '../../test/support/hub-plane.ts';
import { buildImage, musterImageRef } from '../../tools/image/index.ts';
import { synthAgent, synthCrds, synthHub } from './index.ts';

const system = 'cattle-fleet-system';
const edge = 'edge-system';
const ports = { hubProbe: 8081, hubMetrics: 8080, agentProbe: 9081, agentMetrics: 9080 };

let cluster: LocalCluster;
let admin: KubeClient;

beforeAll(async () => {
  const node = nodeSupport().supported;
  const command = { muster: [process.execPath, join(import.meta.dirname, '../../cli/main.ts')] };
  cluster = await startLocalCluster({
    name: 'pods',
    node,
    ...(node ? { images: [(await buildImage()).archive] } : { processImages: { [musterImageRef]: { command } } }),
  });
  admin = cluster.plane.client();
});
afterAll(async () => {
  await admin?.close();
  await cluster?.close();
});

/** Pods are on the machine's network here: each endpoint has a port of its own, and the API server is on loopback. */
function environment(addresses: Record<string, number>): { name: string; value: string }[] {
  return [
    { name: 'KUBERNETES_SERVICE_HOST', value: '127.0.0.1' },
    { name: 'KUBERNETES_SERVICE_PORT', value: String(cluster.plane.port) },
    ...Object.entries(addresses).map(([name, port]) => ({ name, value: `${cluster.address}:${port}` })),
  ];
}
const workload = { image: musterImageRef, imagePullPolicy: 'Never', hostNetwork: true };
const agent = () => ({
  ...workload,
  namespace: edge,
  // The hub and its agent share this one cluster, whose own identity a hub refuses.
  clientID: 'edge-of-the-same-cluster',
  envVars: environment({
    FLEET_AGENT_PROBE_BIND_ADDRESS: ports.agentProbe,
    FLEET_AGENT_METRICS_BIND_ADDRESS: ports.agentMetrics,
  }),
});

async function available(namespace: string, name: string): Promise<true | undefined> {
  const { status } = await admin.get(Deployments, { namespace, name });
  return status?.availableReplicas === 1 ? true : undefined;
}
async function podIn(namespace: string): Promise<Pod | undefined> {
  const { items } = await admin.list(Pods, { namespace });
  return items.find(({ status }) => status?.containerStatuses?.[0]?.state?.running);
}

test('given the manifests on a cluster that runs pods, when a token is added, then the agent registers and is ready', async () => {
  const config = { apiServerURL: cluster.plane.server, apiServerCA: cluster.plane.ca };
  const envVars = environment({
    MUSTER_PROBE_BIND_ADDRESS: ports.hubProbe,
    MUSTER_METRICS_BIND_ADDRESS: ports.hubMetrics,
  });
  await applyAll(admin, [...synthCrds(), ...synthHub({ ...workload, config, envVars }), ...synthAgent(agent())]);
  await poll(() => available(system, 'muster-hub'), { what: 'the hub' });

  // An agent without a token runs and says that it is not ready; that is no reason to restart it.
  const waiting = await poll(() => podIn(edge), { what: 'the agent' });
  expect(waiting.status?.containerStatuses?.[0]?.ready).toBe(false);

  await admin.create(ClusterRegistrationTokens, {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'ClusterRegistrationToken',
    metadata: { name: 'pods', namespace: 'fleet-default' },
    spec: { ttl: '1h' },
  });
  const values = await poll(
    async () => (await admin.find(Secrets, { namespace: 'fleet-default', name: 'pods' }))?.data?.['values'],
    { what: 'the values of the token' },
  );
  const bootstrap = parseValues(Buffer.from(values, 'base64').toString());
  await applyAll(admin, synthAgent({ ...agent(), bootstrap }));

  await poll(() => available(edge, 'fleet-agent'), { what: 'the agent to be ready' });
  const { items } = await admin.list(Clusters, { namespace: 'fleet-default' });
  expect(items.map(({ spec, status }) => [spec?.clientID, status?.agent?.namespace])).toEqual([
    ['edge-of-the-same-cluster', edge],
  ]);
  const [before, after] = [waiting, await podIn(edge)];
  expect(after?.metadata.name).toBe(before.metadata.name);
  expect(after?.status?.containerStatuses?.[0]?.restartCount).toBe(0);
}, 120_000);
