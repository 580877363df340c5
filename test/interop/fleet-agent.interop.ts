/** Fleet's agent at our hub. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { labels } from '../../api/fleet/constants.ts';
import { ClusterRegistrations, Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import { ConfigMaps, Namespaces } from '../../api/kubernetes/core.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import { poll } from '../harness/index.ts';
import {
  answerTo,
  ask,
  asToken,
  clusterThat,
  condition,
  createToken,
  declareImported,
  valuesOf,
  workspace,
} from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { deploy } from './deploy.ts';
import { InteropEdge, stays } from './edge.ts';
import { systemNamespace } from './fleet-manifests.ts';
import {
  credentialOf,
  expectAgentRights,
  expectRevoked,
  expectWireLayout,
  gone,
  lastSeen,
  oneRequest,
  requestsOf,
  seen,
} from './sights.ts';

let hub: RunningHub;
let edge: InteropEdge;

beforeAll(async () => {
  hub = await startRunningHub('hub');
  edge = await InteropEdge.start();
});
afterAll(async () => {
  await edge?.close();
  await hub?.close();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), hub.lines.slice(-25).join(''));
  await edge.clean();
});

describe('by token', () => {
  test('registers, reports, deploys, and comes back after a restart as the same', async () => {
    await hub.configure({ agentCheckinInterval: '3s' });
    await createToken(hub, 'by-token');
    const values = await valuesOf(hub, 'by-token');
    await edge.install('fleet', values, { clientID: 'one', labels: { env: 'dev' } });
    const agent = await edge.startAgent('fleet', { checkin: '3s' });

    const credential = await credentialOf(edge);
    const registered = await seen(hub, 'one');
    const name = registered.metadata.name ?? '';
    expect(registered.metadata.labels).toMatchObject({ env: 'dev', [labels.createdByAgentPod]: 'fleet-agent-fleet' });
    expectWireLayout(credential, name);
    await expectAgentRights(credential);
    const [request, ...others] = await requestsOf(hub, 'one');
    expect(others).toEqual([]);
    expect(request?.status).toMatchObject({ granted: true, clusterName: name });
    expect(request?.metadata.labels).toMatchObject({ [labels.registrationToken]: 'by-token' });
    expect(await edge.bootstrapSecret()).toBeUndefined();
    await clusterThat(hub, name, (found) => condition(found, 'Ready')?.status === 'True', 'Ready');
    await seen(hub, 'one', lastSeen(registered));

    await deploy(hub, registered, edge);

    await agent.stop();
    const before = lastSeen(await hub.admin.get(Clusters, { namespace: workspace, name }));
    await edge.startAgent('fleet', { checkin: '3s' });
    await seen(hub, 'one', before);
    expect((await requestsOf(hub, 'one')).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
    expect((await edge.credential())?.data).toEqual(credential.data);
  });

  test('registers anew as the same Cluster when its Secret is lost, and the old credential ends', async () => {
    await createToken(hub, 'again');
    const values = await valuesOf(hub, 'again');
    await edge.install('fleet', values, { clientID: 'two' });
    const agent = await edge.startAgent('fleet');
    const first = await credentialOf(edge);
    const registered = await seen(hub, 'two');
    const [old] = await requestsOf(hub, 'two');

    await agent.stop();
    await edge.loseCredential();
    await edge.bootstrap(values);
    await edge.startAgent('fleet');

    const second = await credentialOf(edge, first);
    expectWireLayout(second, registered.metadata.name ?? '');
    await expectRevoked(first);
    await oneRequest(hub, 'two', old);
  });

  test('is served when its chart is too old to name the token', async () => {
    await createToken(hub, 'unnamed');
    const values = await valuesOf(hub, 'unnamed');
    await edge.install('fleet', { ...values, tokenName: 'x' }, { clientID: 'three' });
    await edge.bootstrap({ ...values, tokenName: '' });
    await edge.startAgent('fleet');
    await credentialOf(edge);
    const [request] = await requestsOf(hub, 'three');
    expect(request?.metadata.labels?.[labels.registrationToken]).toBe('');

    // agents up to 0.15 send no label at all
    const client = await asToken(hub, 'unnamed');
    const sent = await ask(client, { clientID: 'four', token: null });
    expect(await answerTo(client, sent)).toMatchObject({ clusterNamespace: workspace });
  });
});

describe('by kubeconfig', () => {
  test('runs in the manifests that our hub applies, and all goes with the Cluster', async () => {
    await hub.configure({ agentImage: 'rancher/fleet-agent:dev', agentCheckinInterval: '3s' });
    await declareImported(hub, 'east', edge.plane.kubeconfig);
    await clusterThat(hub, 'east', (found) => condition(found, 'Imported')?.status === 'True', 'Imported');
    const deployment = await edge.client.get(Deployments, { namespace: systemNamespace, name: 'fleet-agent' });
    expect(deployment.spec.template).toMatchObject({ spec: { containers: [{ command: ['fleetagent'] }] } });
    await edge.startAgent('fleet', { checkin: '3s' });

    const clientID = (await hub.admin.get(Clusters, { namespace: workspace, name: 'east' })).spec?.clientID ?? '';
    const credential = await credentialOf(edge);
    expectWireLayout(credential, 'east');
    const registered = await seen(hub, clientID);
    await deploy(hub, registered, edge);
    expect((await requestsOf(hub, clientID)).length).toBe(1);

    // its Secret is lost: the hub brings a new bootstrap Secret by itself when it is asked to redeploy
    await edge.loseCredential();
    await hub.admin.patch(
      Clusters,
      { namespace: workspace, name: 'east' },
      { spec: { redeployAgentGeneration: 1 } },
      { type: 'merge' },
    );
    await poll(() => edge.bootstrapSecret(), { what: 'a new bootstrap Secret' });
    await edge.startAgent('fleet', { checkin: '3s', pod: 'fleet-agent-fleet' });
    const second = await credentialOf(edge, credential);
    await expectRevoked(credential);

    await hub.admin.delete(Clusters, { namespace: workspace, name: 'east' });
    const namespace = clusterNamespace(workspace, 'east');
    await gone(() => hub.admin.find(Namespaces, { name: namespace }), 'the cluster namespace');
    await expectRevoked(second);
    const left = (await hub.admin.list(ClusterRegistrations, { namespace: workspace })).items;
    expect(left.filter(({ spec }) => spec?.clientID === clientID)).toEqual([]);
    await gone(() => edge.client.find(Deployments, { namespace: systemNamespace, name: 'fleet-agent' }), 'the agent');
    expect(await edge.client.find(ConfigMaps, { namespace: systemNamespace, name: 'fleet-agent' })).toBeUndefined();
  });
});

test('a Cluster that is deleted takes the credential of its agent along', async () => {
  await createToken(hub, 'leaving');
  await edge.install('fleet', await valuesOf(hub, 'leaving'), { clientID: 'five' });
  await edge.startAgent('fleet');
  const credential = await credentialOf(edge);
  const registered = await seen(hub, 'five');
  const name = registered.metadata.name ?? '';

  await hub.admin.delete(Clusters, { namespace: workspace, name });

  await expectRevoked(credential);
  await gone(() => hub.admin.find(Clusters, { namespace: workspace, name }), 'the Cluster');
  await gone(() => hub.admin.find(Namespaces, { name: clusterNamespace(workspace, name) }), 'the cluster namespace');
  expect(await stays(() => requestsOf(hub, 'five'), 3_000)).toEqual([]);
});
