/** Either agent takes over from the other in one cluster: same lease, same Secret, no second registration. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Leases } from '../../api/kubernetes/workloads.ts';
import { createToken, valuesOf } from '../support/registering.ts';
import type { AtHub } from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { InteropEdge } from './edge.ts';
import type { AgentKind } from './edge.ts';
import { startFleetHub } from './fleet-hub.ts';
import type { FleetHub } from './fleet-hub.ts';
import { systemNamespace } from './fleet-manifests.ts';
import { credentialOf, lastSeen, requestsOf, seen } from './sights.ts';

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

test("at Fleet's hub, our agent first", async () => {
  theirs ??= await startFleetHub();
  await takeTurns(theirs, 'muster', 'muster-first');
});
