/** Fleet's agent where our hub changes: its CA, the certificates of its API server, its address. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { certificatesOf } from '../../api/fleet/hub-address.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import { parseKubeconfig } from '../../runtime/kube/kubeconfig.ts';
import { Authority, FaultProxy, poll } from '../harness/index.ts';
import { declareImported, workspace } from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { InteropEdge } from './edge.ts';
import { systemNamespace } from './fleet-manifests.ts';
import { credentialOf, lastSeen, requestsOf, seen, text } from './sights.ts';

let hub: RunningHub;
let edge: InteropEdge;
let proxy: FaultProxy;
let clientID: string;
const key = { namespace: workspace, name: 'follows' };
const settings = { agentImage: 'rancher/fleet-agent:dev', agentCheckinInterval: '2s' };
const base64 = (...certificates: string[]): string => Buffer.from(certificates.join('\n')).toString('base64');

beforeAll(async () => {
  hub = await startRunningHub('hub', { plane: { successor: Authority.create('next') } });
  proxy = await FaultProxy.start(hub.plane);
  edge = await InteropEdge.start();
  const [old = ''] = certificatesOf(hub.plane.ca);
  // strict: what it stores is the CA that the hub announces
  await hub.configure({ ...settings, agentTLSMode: 'strict', apiServerCA: base64(old) });
  await declareImported(hub, 'follows', edge.plane.kubeconfig);
  edge.runDeployed('fleet', { checkin: '2s' });
  await credentialOf(edge);
  clientID = (await hub.admin.get(Clusters, key)).spec?.clientID ?? '';
  await seen(hub, clientID);
});
afterAll(async () => {
  await edge?.close();
  await proxy?.close();
  await hub?.close();
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), hub.lines.slice(-25).join(''));
});

const place = async () => parseKubeconfig(text(await edge.credential(), 'kubeconfig'), { policy: 'hub' });
const rollouts = async (): Promise<number> =>
  (await edge.client.get(Deployments, { namespace: systemNamespace, name: 'fleet-agent' })).metadata.generation ?? 0;

/** One change of the hub's configuration: at most one restart, the same registration, and the agent reports on. */
async function expectFollowed(change: () => Promise<void>, arrived: () => Promise<boolean>): Promise<void> {
  const before = {
    requests: (await requestsOf(hub, clientID)).map(({ metadata }) => metadata.uid),
    token: (await place()).token,
  };
  const generation = await rollouts();
  await change();
  await poll(async () => ((await arrived()) ? true : undefined), {
    what: 'the change in its credential',
    limitMs: 60_000,
  });
  await hub.quiet();
  // the restarted one waits for no lease: it is stopped well, and gives it back
  const since = Math.max(lastSeen(await hub.admin.get(Clusters, key)), Date.now());
  await seen(hub, clientID, since);
  expect((await rollouts()) - generation).toBeLessThanOrEqual(1);
  const after = {
    requests: (await requestsOf(hub, clientID)).map(({ metadata }) => metadata.uid),
    token: (await place()).token,
  };
  expect(after).toEqual(before);
}

test('a CA that is announced beside the old one, then used, then alone', async () => {
  const [old = '', next = ''] = certificatesOf(hub.plane.ca);
  const announce =
    (...certificates: string[]) =>
    () =>
      hub.configure({ ...settings, agentTLSMode: 'strict', apiServerCA: base64(...certificates) });
  const has =
    (...certificates: string[]) =>
    async () => {
      const found = certificatesOf((await place()).ca ?? '');
      return found.length === certificates.length && certificates.every((each) => found.includes(each));
    };
  await expectFollowed(announce(old, next), has(old, next));
  await expectFollowed(() => hub.plane.changeAuthority(), has(old, next));
  await expectFollowed(announce(next), has(next));
});

test('another address with another CA', async () => {
  await expectFollowed(
    () =>
      hub.configure({
        ...settings,
        agentTLSMode: 'strict',
        apiServerURL: proxy.server,
        apiServerCA: base64(proxy.ca),
      }),
    async () => (await place()).server === proxy.server,
  );
  expect(proxy.count({ method: 'PATCH', path: `/clusters/follows/status` })).toBeGreaterThan(0);
});
