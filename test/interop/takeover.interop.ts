/** Either agent takes over from the other in one cluster: same lease, same Secret, no second registration. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Leases } from '../../api/kubernetes/workloads.ts';
import { parseKubeconfig } from '../../runtime/kube/kubeconfig.ts';
import { tokenEnd } from '../../runtime/registration/credential.ts';
import { createToken, declareImported, valuesOf, workspace } from '../support/registering.ts';
import type { AtHub } from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { InteropEdge } from './edge.ts';
import type { AgentKind } from './edge.ts';
import { startFleetHub } from './fleet-hub.ts';
import type { FleetHub } from './fleet-hub.ts';
import { systemNamespace } from './fleet-manifests.ts';
import { credentialOf, lastSeen, requestsOf, seen, text } from './sights.ts';

let edge: InteropEdge;
let ours: RunningHub | undefined;
let theirs: FleetHub | undefined;

beforeAll(async () => {
  edge = await InteropEdge.start();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), theirs?.logs(), ours?.lines.slice(-25).join(''));
  await edge.clean();
});
afterAll(async () => {
  await edge?.close();
  await ours?.close();
  await theirs?.close();
});

const other: Record<AgentKind, AgentKind> = { fleet: 'muster', muster: 'fleet' };

/** `first` registers; the other takes over while it still runs beside it; then `first` comes back. */
async function takeTurns(hub: AtHub, first: AgentKind, clientID: string): Promise<void> {
  await createToken(hub, clientID);
  // Fleet's chart gives the account the rights that either agent needs
  await edge.install('fleet', await valuesOf(hub, clientID), { clientID });
  let leading = await edge.startAgent(first, { checkin: '2s' });
  const credential = await credentialOf(edge);
  let last = await seen(hub, clientID);
  const [request] = await requestsOf(hub, clientID);
  for (const kind of [other[first], first]) {
    const next = await edge.startAgent(kind, { checkin: '2s' });
    await leading.kill();
    leading = next;
    const since = Math.max(lastSeen(last), Date.now());
    last = await seen(hub, clientID, since);
    const lease = await edge.client.get(Leases, { namespace: systemNamespace, name: 'fleet-agent' });
    expect(lease.spec?.holderIdentity).toBe(`fleet-agent-${kind}`);
    expect((await requestsOf(hub, clientID)).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
    const kept = await edge.credential();
    expect(Object.keys(kept?.data ?? {}).sort()).toEqual(Object.keys(credential.data ?? {}).sort());
  }
}

test("at our hub, Fleet's agent first", async () => {
  ours ??= await startRunningHub('hub');
  await takeTurns(ours, 'fleet', 'fleet-first');
});

test('at our hub, our agent first', async () => {
  ours ??= await startRunningHub('hub');
  await takeTurns(ours, 'muster', 'muster-first');
});

test("at our hub, by kubeconfig: Fleet's image takes over from ours, with a credential that lasts", async () => {
  ours ??= await startRunningHub('hub');
  const key = { namespace: workspace, name: 'swap' };
  await ours.configure({ agentImage: 'muster:test' });
  await declareImported(ours, 'swap', edge.plane.kubeconfig);
  const running = await edge.startAgent('muster', { checkin: '2s' });
  const first = await credentialOf(edge);
  const clientID = (await ours.admin.get(Clusters, key)).spec?.clientID ?? '';
  const before = await seen(ours, clientID);
  const [request] = await requestsOf(ours, clientID);
  expect(daysLeft(first)).toBeLessThan(100);

  await ours.configure({ agentImage: 'rancher/fleet-agent:dev' });

  const second = await credentialOf(edge, first);
  expect(daysLeft(second)).toBeGreaterThan(3000);
  await running.stop();
  await edge.startAgent('fleet', { checkin: '2s' });
  await seen(ours, clientID, Math.max(lastSeen(before), Date.now()));
  expect((await requestsOf(ours, clientID)).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
  expect((await edge.credential())?.data).toEqual(second.data);
});

function daysLeft(credential: Secret): number {
  const { token = '' } = parseKubeconfig(text(credential, 'kubeconfig'), { policy: 'hub' });
  return ((tokenEnd(token) ?? Number.POSITIVE_INFINITY) - Date.now()) / 86_400_000;
}

test("at Fleet's hub, our agent first", async () => {
  theirs ??= await startFleetHub();
  await takeTurns(theirs, 'muster', 'muster-first');
});
