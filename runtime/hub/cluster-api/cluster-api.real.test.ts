/** Rules at work on a real control plane, under the hub's own ServiceAccount; Cluster API's controllers are played. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clusters, ClusterGroups, ClusterRegistrationTokens } from '../../../api/fleet/kinds.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { RegistrationRules } from '../../../api/muster/kinds.ts';
import type { RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { poll } from '../../../test/harness/index.ts';
import {
  createNamespace,
  createRule,
  installDefinition,
  PlayedClusterAPI,
  ruleThat,
} from '../../../test/support/played-cluster-api.ts';
import { clusterThat, condition, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub } from '../../../test/support/running-hub.ts';
import type { SmallEdges } from '../../../test/support/small-edges.ts';
import { shortKubeconfig, startSmallEdges } from '../../../test/support/small-edges.ts';
import { clusterAPIDefinition } from './testdata/definitions.ts';

let hub: RunningHub;
let edges: SmallEdges;
let capi: PlayedClusterAPI;
const finalizer = 'muster.dev/registration';

beforeAll(async () => {
  hub = await startRunningHub('rules');
  const { cert, key } = hub.plane.issueServerCertificate('edges', ['127.0.0.1']);
  edges = await startSmallEdges({ cert, key, ca: hub.plane.ca });
  await createNamespace(hub.admin, 'capi', { 'muster.dev/source': 'true', team: 'platform' });
  capi = new PlayedClusterAPI(hub.admin, 'capi');
});
afterAll(async () => {
  await edges?.close();
  await hub?.close();
});

const rule = (name: string, spec: Partial<RegistrationRuleSpec> = {}) =>
  createRule(hub.admin, name, { ...spec, registration: { workspace, ...spec.registration } });
const removeRule = (name: string) => hub.admin.delete(RegistrationRules, { name });
const find = (name: string): Promise<Cluster | undefined> => hub.admin.find(Clusters, { namespace: workspace, name });
const imported = (name: string) =>
  clusterThat(hub, name, (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
const endOf = (name: string, limitMs = 20_000) =>
  poll(async () => ((await find(name)) === undefined ? true : undefined), {
    what: `the end of Cluster ${name}`,
    limitMs,
  });
const deploymentPath = '/apis/apps/v1/namespaces/cattle-fleet-system/deployments/fleet-agent';
const hasAgent = (edge: string) => edges.edge(edge).objects.has(deploymentPath);
const finalizersOf = async (name: string) => (await capi.find(name))?.metadata.finalizers ?? [];
const ready = (name: string) => ruleThat(hub.admin, name, (r) => r.status?.conditions?.[0]?.status === 'True', 'Ready');

/** A cluster that comes, and is ready. */
const provision = (name: string, options = {}) => capi.provision(name, edges.kubeconfig(name), options);

/** What Cluster API does when its Cluster is deleted, once the hub has let go of it. */
async function remove(name: string): Promise<void> {
  await capi.delete(name);
  await poll(async () => ((await finalizersOf(name)).includes(finalizer) ? undefined : true), {
    what: `${name} let go`,
  });
  await capi.tearDown(name);
  await capi.gone(name);
}

async function events(kind: string, name: string): Promise<string[]> {
  const list = (await hub.admin.raw(
    `/apis/events.k8s.io/v1/events?fieldSelector=regarding.name=${name},regarding.kind=${kind}`,
  )) as { items: { reason: string; regarding: { apiVersion: string } }[] };
  return list.items
    .filter(({ regarding }) => regarding.apiVersion.startsWith('cluster.x-k8s.io'))
    .map(({ reason }) => reason);
}

describe('Cluster API that comes late', () => {
  it('given a rule before the kind is installed, when it is, then the rule says so first and begins by itself', async () => {
    await rule('early');
    await ruleThat(hub.admin, 'early', (r) => r.status?.conditions?.[0]?.reason === 'SourceKindMissing', 'missing');
    await installDefinition(hub.admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
    const done = await ready('early');
    expect(done.status).toMatchObject({ matched: 0, registered: 0, failed: 0, observedGeneration: 1 });
    await removeRule('early');
  });
});

describe('a cluster of Cluster API', () => {
  it('given a rule, when it is ready, then it is registered with what the rule passes, and goes with its source', async () => {
    await rule('all', {
      registration: {
        workspace,
        name: '{namespace}-{name}',
        labels: { pass: ['env', 'topology.*'], set: { class: '{class}' } },
        annotations: { pass: ['owner'] },
        agent: { namespace: 'agents' },
        groups: { by: 'Class' },
      },
    });
    await capi.create('east', {
      labels: { env: 'prod', 'topology.cluster.x-k8s.io/owned': 'yes', other: 'no' },
      annotations: { owner: 'platform' },
      className: 'aws',
    });
    await capi.kubeconfig('east', edges.kubeconfig('east'));
    await ruleThat(hub.admin, 'all', (r) => r.status?.matched === 1, 'matched');
    expect(await find('capi-east')).toBeUndefined();
    expect(await finalizersOf('east')).not.toContain(finalizer);
    expect(await events('Cluster', 'east')).toEqual(['WaitingForControlPlane']);

    await capi.ready('east');
    const cluster = await imported('capi-east');
    expect(await finalizersOf('east')).toContain(finalizer);
    expect(cluster.metadata.labels).toMatchObject({
      env: 'prod',
      'topology.cluster.x-k8s.io/owned': 'yes',
      class: 'aws',
      'muster.dev/cluster-group': 'aws.capi',
    });
    expect(cluster.metadata.labels).not.toHaveProperty('other');
    expect(cluster.metadata.annotations).toMatchObject({
      owner: 'platform',
      'muster.dev/rule': 'all',
      'muster.dev/source': 'Cluster/capi/east',
      'muster.dev/source-uid': (await capi.find('east'))?.metadata.uid,
    });
    expect(cluster.spec).toMatchObject({
      kubeConfigSecret: 'east-kubeconfig',
      kubeConfigSecretNamespace: 'capi',
      agentNamespace: 'agents',
    });
    expect(edges.edge('east').objects.has('/apis/apps/v1/namespaces/agents/deployments/fleet-agent')).toBe(true);
    const group = await hub.admin.get(ClusterGroups, { namespace: workspace, name: 'aws.capi' });
    expect(group.spec?.selector?.matchLabels).toEqual({ 'muster.dev/cluster-group': 'aws.capi' });

    await hub.quiet();
    const before = await hub.writes();
    await capi.patch(
      'east',
      { status: { phase: 'Provisioned', conditions: [{ type: 'Other', status: 'True' }] } },
      'status',
    );
    await hub.quiet();
    expect(await hub.writes()).toBe(before);

    await remove('east');
    expect(await find('capi-east')).toBeUndefined();
    expect(edges.edge('east').objects.has('/apis/apps/v1/namespaces/agents/deployments/fleet-agent')).toBe(false);
    await poll(
      async () =>
        (await hub.admin.find(ClusterGroups, { namespace: workspace, name: 'aws.capi' })) ? undefined : true,
      { what: 'the end of the group' },
    );
    await removeRule('all');
  });
});

void [Secrets, ClusterRegistrationTokens, shortKubeconfig, hasAgent, endOf, provision];
