/** Our agent at Fleet's hub. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { labels } from '../../api/fleet/constants.ts';
import { Bundles, ClusterRegistrations, Clusters } from '../../api/fleet/kinds.ts';
import { agentBundleName, clusterNamespace } from '../../api/fleet/names.ts';
import { Namespaces } from '../../api/kubernetes/core.ts';
import { poll } from '../harness/index.ts';
import { createToken, declareImported, valuesOf, workspace } from '../support/registering.ts';
import { InteropEdge } from './edge.ts';
import { startFleetHub } from './fleet-hub.ts';
import type { FleetHub } from './fleet-hub.ts';
import {
  credentialOf,
  expectRevoked,
  expectWireLayout,
  gone,
  lastSeen,
  oneRequest,
  requestsOf,
  seen,
} from './sights.ts';

let hub: FleetHub;
let edge: InteropEdge;

beforeAll(async () => {
  hub = await startFleetHub();
  edge = await InteropEdge.start();
});
afterAll(async () => {
  await edge?.close();
  await hub?.close();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), hub.logs());
  await edge.clean();
});

describe('by token', () => {
  test('registers, reports, and comes back after a restart as the same', async () => {
    await createToken(hub, 'by-token');
    await edge.install('muster', await valuesOf(hub, 'by-token'), { clientID: 'one', labels: { env: 'dev' } });
    const agent = await edge.startAgent('muster', { checkin: '3s' });

    const credential = await credentialOf(edge);
    const registered = await seen(hub, 'one');
    const name = registered.metadata.name ?? '';
    expect(registered.metadata.labels).toMatchObject({ env: 'dev', [labels.createdByAgentPod]: 'fleet-agent-muster' });
    expectWireLayout(credential, name);
    const [request, ...others] = await requestsOf(hub, 'one');
    expect(others).toEqual([]);
    await poll(async () => ((await requestsOf(hub, 'one'))[0]?.status?.granted ? true : undefined), {
      what: 'the request to be granted',
    });
    await gone(() => edge.bootstrapSecret(), 'the bootstrap Secret');
    const later = await seen(hub, 'one', lastSeen(registered));

    await agent.stop();
    await edge.startAgent('muster', { checkin: '3s' });
    await seen(hub, 'one', lastSeen(later));
    expect((await requestsOf(hub, 'one')).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
    expect((await edge.credential())?.data).toEqual(credential.data);
  });

  test('registers anew as the same Cluster when its Secret is lost, and the old credential ends', async () => {
    await createToken(hub, 'again');
    const values = await valuesOf(hub, 'again');
    await edge.install('muster', values, { clientID: 'two' });
    const agent = await edge.startAgent('muster');
    const first = await credentialOf(edge);
    const registered = await seen(hub, 'two');

    await agent.stop();
    await edge.loseCredential();
    await edge.bootstrap(values);
    await edge.startAgent('muster');

    const second = await credentialOf(edge, first);
    expectWireLayout(second, registered.metadata.name ?? '');
    await expectRevoked(first);
    await oneRequest(hub, 'two');
  });
});

test('by kubeconfig: runs in the manifests that the hub applies, is imported anew, and ends with the Cluster', async () => {
  const key = { namespace: workspace, name: 'east' };
  await declareImported(hub, 'east', edge.plane.kubeconfig);
  edge.runDeployed('muster', { checkin: '3s' });

  const credential = await credentialOf(edge);
  expectWireLayout(credential, 'east');
  const clientID = (await hub.admin.get(Clusters, key)).spec?.clientID ?? '';
  const registered = await seen(hub, clientID);
  expect((await requestsOf(hub, clientID)).length).toBe(1);

  // An import removes Secrets, account and Deployment at the edge and brings new ones.
  await hub.admin.patch(Clusters, key, { spec: { redeployAgentGeneration: 1 } }, { type: 'merge' });
  const second = await credentialOf(edge, credential);
  await expectRevoked(credential);
  await seen(hub, clientID, lastSeen(registered));
  await oneRequest(hub, clientID);

  await hub.admin.delete(Clusters, key);
  await gone(() => hub.admin.find(Clusters, key), 'the Cluster');
  await gone(() => hub.admin.find(Namespaces, { name: clusterNamespace(workspace, 'east') }), 'its namespace');
  await expectRevoked(second);
  const left = (await hub.admin.list(ClusterRegistrations, { namespace: workspace })).items;
  expect(left.filter(({ spec }) => spec?.clientID === clientID)).toEqual([]);
  await gone(() => hub.admin.find(Bundles, { namespace: workspace, name: agentBundleName('east') }), 'its bundle');
});
