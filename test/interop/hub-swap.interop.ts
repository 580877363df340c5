/** Either hub in the place of the other: agents that one has registered go on at the other, and can be removed. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../api/fleet/names.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Namespaces } from '../../api/kubernetes/core.ts';
import { Leases } from '../../api/kubernetes/workloads.ts';
import { synthCrds, synthHub } from '../../components/fleet/index.ts';
import { hubNames } from '../../components/fleet/names.ts';
import { runHub } from '../../runtime/hub/fleet/hub.ts';
import { createLogger } from '../../runtime/kube/logger.ts';
import { applyAll } from '../support/hub-plane.ts';
import { clusterThat, condition, createToken, valuesOf, workspace } from '../support/registering.ts';
import type { AtHub } from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import { InteropEdge } from './edge.ts';
import { startFleetHub } from './fleet-hub.ts';
import type { FleetHub } from './fleet-hub.ts';
import { systemNamespace } from './fleet-manifests.ts';
import { credentialOf, expectRevoked, gone, lastSeen, requestsOf, seen } from './sights.ts';

let hub: FleetHub;
let edge: InteropEdge;
const lines: string[] = [];
const ending = new AbortController();
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  hub = await startFleetHub();
  edge = await InteropEdge.start();
});
afterAll(async () => {
  ending.abort();
  for (const close of closers) await close();
  await edge?.close();
  await hub?.close();
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), hub.logs(), lines.slice(-25).join(''));
});

/** Ends Fleet's hub, whose Leases would run out by themselves, and starts ours over what it has left. */
async function swap(): Promise<void> {
  await hub.stopProcesses();
  for (const { metadata } of (await hub.admin.list(Leases, { namespace: systemNamespace })).items) {
    await hub.admin.delete(Leases, { namespace: systemNamespace, name: metadata.name ?? '' });
  }
  const config = { apiServerURL: hub.plane.server, apiServerCA: hub.plane.ca };
  await applyAll(hub.admin, [...synthCrds(), ...synthHub({ image: 'muster:test', config })]);
  const account = { namespace: systemNamespace, name: hubNames.serviceAccount };
  const { token } = await hub.admin.createToken(account, { expirationSeconds: 3600 });
  const client = hub.plane.clientFor(token);
  const logger = createLogger({ level: 'info', write: (line) => lines.push(line) });
  const running = runHub({ client, namespace: systemNamespace, logger }, ending.signal);
  running.catch((error: unknown) => lines.push(`hub ended: ${String(error)}`));
  closers.push(
    () => running.catch(() => undefined),
    () => client.close(),
  );
}

async function expectRemoval(at: AtHub, name: string, credential: Secret): Promise<void> {
  await at.admin.delete(Clusters, { namespace: workspace, name });
  await gone(() => at.admin.find(Clusters, { namespace: workspace, name }), 'the Cluster');
  await gone(() => at.admin.find(Namespaces, { name: clusterNamespace(workspace, name) }), 'its namespace');
  await expectRevoked(credential);
}

test('an agent of Fleet goes on as it was, and its Cluster can be removed', async () => {
  await createToken(hub, 'before');
  await edge.install('fleet', await valuesOf(hub, 'before'), { clientID: 'stays', labels: { env: 'dev' } });
  await edge.startAgent('fleet', { checkin: '2s' });
  const credential = await credentialOf(edge);
  const before = await seen(hub, 'stays');
  const name = before.metadata.name ?? '';
  const [request] = await requestsOf(hub, 'stays');

  await swap();

  await clusterThat(hub, name, (found) => condition(found, 'Registered')?.status === 'True', 'Registered', 60_000);
  await seen(hub, 'stays', Math.max(lastSeen(before), Date.now()));
  expect((await requestsOf(hub, 'stays')).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
  expect((await edge.credential())?.data).toEqual(credential.data);

  await expectRemoval(hub, name, credential);
  expect(await requestsOf(hub, 'stays')).toEqual([]);
});

test("an agent of ours goes on at Fleet's hub", async () => {
  const ours = await startRunningHub('hub');
  const downstream = await InteropEdge.start('edge-2');
  let theirs: FleetHub | undefined;
  try {
    await createToken(ours, 'before');
    await downstream.install('muster', await valuesOf(ours, 'before'), { clientID: 'moves' });
    await downstream.startAgent('muster', { checkin: '2s' });
    const credential = await credentialOf(downstream);
    const before = await seen(ours, 'moves');
    const [request] = await requestsOf(ours, 'moves');

    await ours.stop();
    theirs = await startFleetHub(ours.plane);

    const name = before.metadata.name ?? '';
    await clusterThat(theirs, name, (found) => condition(found, 'Processed')?.status === 'True', 'Processed', 60_000);
    await seen(theirs, 'moves', Math.max(lastSeen(before), Date.now()));
    expect((await requestsOf(theirs, 'moves')).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
    await expectRemoval(theirs, name, credential);
  } finally {
    await downstream.close();
    await theirs?.close();
    await ours.close();
  }
});
