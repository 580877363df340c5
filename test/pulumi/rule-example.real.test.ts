import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { secretKeys, secretNames } from '../../api/fleet/constants.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import { clusterAPIDefinition } from '../../runtime/hub/cluster-api/testdata/definitions.ts';
import { pulumiEnvironment } from '../../tools/index.ts';
import { poll } from '../harness/index.ts';
import { PulumiEngine } from '../harness/pulumi-engine.ts';
import { createNamespace, installDefinition, PlayedClusterAPI } from '../support/played-cluster-api.ts';
import { ask, clusterThat, condition, workspace } from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { startSmallEdges } from '../support/small-edges.ts';
import type { SmallEdges } from '../support/small-edges.ts';

let hub: RunningHub;
let edges: SmallEdges;
let capi: PlayedClusterAPI;
let engine: PulumiEngine;

beforeAll(async () => {
  hub = await startRunningHub('rule-example');
  const { cert, key } = hub.plane.issueServerCertificate('edges', ['127.0.0.1']);
  edges = await startSmallEdges({ cert, key, ca: hub.plane.ca });
  await installDefinition(hub.admin, clusterAPIDefinition('v1beta2', 'v1beta1'));
  await createNamespace(hub.admin, 'team-a', { 'muster.dev/source': 'true' });
  capi = new PlayedClusterAPI(hub.admin, 'team-a');
  engine = await PulumiEngine.create({
    project: fileURLToPath(new URL('../../examples/registration-rule', import.meta.url)),
    env: { ...(await pulumiEnvironment()), PULUMI_CONFIG_PASSPHRASE: 'test' },
  });
  await engine.configure('muster:hubKubeconfig', hub.plane.kubeconfig, { secret: true });
}, 180_000);
afterAll(async () => {
  await engine?.close();
  await edges?.close();
  await hub?.close();
});

/** What the agent does that the hub has installed in an edge. */
async function register(edge: string, name: string): Promise<void> {
  const path = `/api/v1/namespaces/cattle-fleet-system/secrets/${secretNames.bootstrap}`;
  const { data } = edges.edge(edge).objects.get(path) as Secret;
  const token = Buffer.from(data?.[secretKeys.token] ?? '', 'base64').toString();
  const { spec } = await hub.admin.get(Clusters, { namespace: workspace, name });
  await ask(hub.asBearer(token), { clientID: spec?.clientID ?? '' });
  await clusterThat(hub, name, (found) => condition(found, 'Registered')?.status === 'True', 'Registered');
}

test('a program declares a rule; clusters that come later are registered, without another run', async () => {
  expect((await engine.preview()).output).toMatch(/\+ 3 to create/);
  await engine.up();
  expect(await engine.outputs()).toMatchObject({ matched: 0, registered: 0 });

  for (const name of ['east', 'west']) {
    await capi.provision(name, edges.kubeconfig(name), { labels: { tier: 'edge', secret: 'no' } });
  }
  await capi.provision('core', edges.kubeconfig('core'), { labels: { tier: 'core' } });
  const east = await clusterThat(hub, 'team-a-east', (found) => condition(found, 'Imported')?.status === 'True', 'in');
  expect(east.metadata.labels).toMatchObject({ tier: 'edge', registered: 'by-rule' });
  expect(east.metadata.labels).not.toHaveProperty('secret');
  await clusterThat(hub, 'team-a-west', (found) => condition(found, 'Imported')?.status === 'True', 'in');
  await register('east', 'team-a-east');
  await poll(
    async () => ((await hub.admin.list(RegistrationRules)).items[0]?.status?.registered === 1 ? true : undefined),
    { what: 'the count of the rule' },
  );

  // Clusters come and go: that changes counts, and nothing that the program declares.
  await engine.refresh();
  await engine.preview('--expect-no-changes');
  await engine.up();
  expect(await engine.outputs()).toMatchObject({ matched: 2, registered: 1 });
  expect((await hub.admin.list(Clusters)).items.map(({ metadata }) => metadata.name).sort()).toEqual([
    'team-a-east',
    'team-a-west',
  ]);

  await engine.destroy();
  await poll(async () => ((await hub.admin.list(Clusters)).items.length === 0 ? true : undefined), {
    what: 'the end of both registrations',
    limitMs: 60_000,
  });
}, 300_000);
