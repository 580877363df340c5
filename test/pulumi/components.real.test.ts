import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';
import { agentNames, apiVersion, configMapNames, secretNames } from '../../api/fleet/constants.ts';
import { ClusterRegistrationTokens, Clusters } from '../../api/fleet/kinds.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../api/kubernetes/core.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import { hubNames } from '../../components/fleet/index.ts';
import { conditionTypes, isTrue } from '../../api/conditions.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { pulumiEnvironment } from '../../tools/index.ts';
import { lackedFor } from '../harness/binaries.ts';
import { takeInventory, leftOver } from '../harness/inventory.ts';
import { startLocalCluster } from '../harness/local-cluster.ts';
import type { LocalCluster } from '../harness/local-cluster.ts';
import { PulumiEngine } from '../harness/pulumi-engine.ts';

// Where the provider of @pulumi/kubernetes was never built, it is built first.
const lacking = await lackedFor('pulumi-resource-kubernetes');
const named = (name: string) => (lacking === undefined ? name : `${name} (skipped: ${lacking})`);
// A dozen runs of the engine, each of seconds on a quiet machine and of a minute on one that is not.
vi.setConfig({ testTimeout: 900_000 });

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const image = 'example.test/muster:1';
const system = 'cattle-fleet-system';
const edge = 'edge-system';

/** One cluster for both: hub and agent have two providers all the same, and a namespace each. */
let cluster: LocalCluster;
let client: KubeClient;
let environment: Record<string, string>;
let engine: PulumiEngine;

beforeAll(async () => {
  if (lacking !== undefined) return;
  environment = { ...(await pulumiEnvironment({ kubernetes: true })), PULUMI_CONFIG_PASSPHRASE: 'test' };
  const command = { muster: [process.execPath, folder('../../dist/bin/muster.cjs')] };
  cluster = await startLocalCluster({ name: 'both', node: false, processImages: { [image]: { command } } });
  client = cluster.plane.client();
});
afterEach(async () => {
  await engine?.close();
});
afterAll(async () => {
  await client?.close();
  await cluster?.close();
});

async function start(project: string, config: Readonly<Record<string, string>>): Promise<PulumiEngine> {
  engine = await PulumiEngine.create({ project: folder(project), env: environment });
  for (const [name, value] of Object.entries(config)) {
    await engine.configure(name, value, { secret: name.endsWith('ubeconfig') || name === 'values' });
  }
  return engine;
}

/** Pods are processes of this machine here: each endpoint has a port of its own, and the API server is on loopback. */
function workload(prefix: string, shift: number) {
  const envVars = [
    { name: 'KUBERNETES_SERVICE_HOST', value: '127.0.0.1' },
    { name: 'KUBERNETES_SERVICE_PORT', value: String(cluster.plane.port) },
    { name: `${prefix}_PROBE_BIND_ADDRESS`, value: `${cluster.address}:${8081 + shift}` },
    { name: `${prefix}_METRICS_BIND_ADDRESS`, value: `${cluster.address}:${8080 + shift}` },
  ];
  return { hostNetwork: true, envVars };
}

describe.skipIf(lacking !== undefined)(named('an agent of which nothing is known yet'), () => {
  const token = 'bootstrap-token-of-this-test';
  const values = () =>
    formatValues({
      clusterNamespace: 'fleet-default',
      apiServerURL: cluster.plane.server,
      apiServerCA: '',
      token,
      tokenName: 'stores',
      systemRegistrationNamespace: 'cattle-fleet-clusters-system',
    });

  test('is previewed object by object and made; renamed it stays; a hub that goes keeps its registrations', async () => {
    const namespace = 'late-system';
    const stack = await start('programs/kubernetes', {
      kubeconfig: cluster.plane.kubeconfig,
      values: values(),
      namespace,
    });
    const preview = await stack.preview('--diff');
    expect(preview.output).toMatch(/late-system\/fleet-agent-bootstrap/);
    expect(preview.output).toMatch(/image +: (\[unknown\]|output<string>)/);
    expect(preview.output).toContain('CHECKIN_INTERVAL');

    await stack.up();
    const deployment = { namespace, name: agentNames.deployment };
    const { metadata, spec } = await client.get(Deployments, deployment);
    // an image that is nowhere, so that no agent runs: with the ports of its pod it would be in the way of others here
    expect(spec).toMatchObject({ template: { spec: { containers: [{ image: 'example.test/agent:1' }] } } });
    const map = await client.get(ConfigMaps, { namespace, name: configMapNames.agent });
    expect(JSON.stringify(map.data)).toMatch(/site.*north/);
    for (const text of [token, Buffer.from(token).toString('base64'), cluster.plane.adminToken]) {
      expect(await stack.storedState()).not.toContain(text);
    }

    // One setting is one difference, and another name is none.
    await stack.configure('proxy', 'http://proxy.test:3128');
    await stack.configure('called', 'renamed');
    await stack.configure('before', 'edge');
    const change = await stack.preview('--diff');
    expect(change.output).toMatch(/~ 1 to update/);
    expect(change.output).toMatch(/"none" +=> "http:\/\/proxy\.test:3128"/);
    await stack.up();
    expect((await client.get(Deployments, deployment)).metadata.uid).toBe(metadata.uid);

    const kept = { namespace: 'fleet-default', name: 'kept' };
    await client.create(ClusterRegistrationTokens, {
      apiVersion,
      kind: 'ClusterRegistrationToken',
      metadata: kept,
      spec: {},
    });
    await stack.destroy();
    expect(await client.find(Deployments, { namespace: system, name: hubNames.deployment })).toBeUndefined();
    expect(await client.find(Namespaces, { name: system })).toBeUndefined();
    expect(await client.find(Namespaces, { name: namespace })).toBeUndefined();
    expect(await client.find(ClusterRegistrationTokens, kept)).toBeDefined();

    // A hub that is there again takes up what was kept.
    await stack.up();
    expect(await client.find(ClusterRegistrationTokens, kept)).toBeDefined();
    await stack.destroy();
  });

  test('is refused with a setting that is wrong, by its name', async () => {
    const config = { kubeconfig: cluster.plane.kubeconfig, values: values(), namespace: 'late-system' };
    const stack = await start('programs/kubernetes', { ...config, interval: 'never' });
    await expect(stack.preview()).rejects.toThrow(/\[INVALID_ARGUMENT\] Agent edge: checkinInterval: /);
  });
});

describe.skipIf(lacking !== undefined)(
  named('the example kubernetes-provider, with the real hub and the real agent'),
  () => {
    test('previews, registers, changes one object at a time, and leaves nothing', async () => {
      const before = await takeInventory(client);
      const { kubeconfig, server, ca } = cluster.plane;
      const hub = { ...workload('MUSTER', 0), keepRegistrations: false };
      const { envVars, hostNetwork } = workload('FLEET_AGENT', 1000);
      const agent = { agent: { namespace: edge, envVars, hostNetwork } };
      const stack = await start('../../examples/kubernetes-provider', {
        image,
        hubKubeconfig: kubeconfig,
        edgeKubeconfig: kubeconfig,
        hubURL: server,
        hubCA: ca,
        hub: JSON.stringify(hub),
        agent: JSON.stringify(agent),
      });

      const preview = await stack.preview();
      expect(preview.output).toMatch(/kubernetes:apps\/v1:Deployment +hub:cattle-fleet-system\/muster-hub +create/);
      expect(preview.output).toMatch(/kubernetes:core\/v1:Secret +edge:edge-system\/fleet-agent-bootstrap +create/);
      expect(await takeInventory(client)).toEqual(before);

      await stack.up();
      const { name, ready } = await stack.outputs();
      expect(ready).toBe(true);
      const registered = await client.get(Clusters, { namespace: 'fleet-default', name: String(name) });
      expect(isTrue(registered.status?.conditions, conditionTypes.registered)).toBe(true);

      // The token is in the cluster, and nowhere in the state.
      const secret = await client.get(Secrets, { namespace: edge, name: secretNames.bootstrap });
      const token = Buffer.from(secret.data?.['token'] ?? '', 'base64').toString();
      expect(token).not.toBe('');
      const secrets = [token, secret.data?.['token'] ?? '', cluster.plane.adminToken];
      for (const text of secrets) expect(await stack.storedState()).not.toContain(text);

      // What hub, agent and controllers have written meanwhile is theirs.
      await stack.refresh();
      await stack.preview('--expect-no-changes');
      for (const text of secrets) expect(await stack.storedState()).not.toContain(text);

      await stack.configure('hub', JSON.stringify({ ...hub, config: settings(server, ca.trimEnd(), '7m') }));
      const change = await stack.preview('--diff');
      expect(change.output).toMatch(/~ 1 to update/);
      expect(change.output).toMatch(/kubernetes:core\/v1:ConfigMap[\s\S]*agentCheckinInterval/);
      await stack.up();
      const config = await client.get(ConfigMaps, { namespace: system, name: configMapNames.hub });
      expect(JSON.stringify(config.data)).toContain('7m');

      await stack.destroy();
      expect(leftOver(before, await takeInventory(client))).toEqual([]);
    });
  },
);

function settings(server: string, ca: string, agentCheckinInterval: string) {
  return { apiServerURL: server, apiServerCA: ca, agentCheckinInterval };
}
