/** AgentRelease with either agent's image, at our hub. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { Leases } from '../../api/kubernetes/workloads.ts';
import { DynamicHost, inputsOf } from '../pulumi/dynamic-host.ts';
import { ScriptedWorkloads, withoutDeployments } from '../pulumi/scripted-workloads.ts';
import { lasts } from '../../runtime/registration/credential.ts';
import { kubeconfigIn } from '../../runtime/registration/kubeconfig-secret.ts';
import { createToken, valuesOf, workspace } from '../support/registering.ts';
import { startRunningHub } from '../support/running-hub.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { InteropEdge } from './edge.ts';
import { systemNamespace } from './fleet-manifests.ts';
import { credentialOf, lastSeen, requestsOf, seen } from './sights.ts';
import { formatValues } from '../../api/fleet/bootstrap-values.ts';

let hub: RunningHub;
let edge: InteropEdge;
let workloads: ScriptedWorkloads;
let host: DynamicHost;

beforeAll(async () => {
  hub = await startRunningHub('hub');
  edge = await InteropEdge.start('edge', withoutDeployments);
  workloads = new ScriptedWorkloads(edge.client);
  host = await DynamicHost.start({ config: { 'muster:hubKubeconfig': hub.plane.kubeconfig } });
});
afterAll(async () => {
  await host?.close();
  await workloads?.close();
  await edge?.close();
  await hub?.close();
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(edge.logs(), hub.lines.slice(-25).join(''), host.output);
});

const images = { muster: 'agents.test/muster:1', fleet: 'agents.test/fleet-agent:1' };

test("our agent's image, Fleet's, and ours again: one registration, one credential Secret with a token that lasts, and each of them reports", async () => {
  await createToken(hub, 'west');
  const values = formatValues(await valuesOf(hub, 'west'));
  const inputs = (image: string) =>
    host.checked(
      inputsOf('AgentRelease', {
        kubeconfig: edge.plane.kubeconfig,
        values,
        clientID: 'west',
        image,
        checkinInterval: '2s',
      }),
    );
  edge.runDeployed(undefined, { checkin: '2s' });
  let release = await host.create(await inputs(images.muster));
  expect(release.initErrors).toBeUndefined();
  const stored = await credentialOf(edge);
  let last = await seen(hub, 'west');
  const [request] = await requestsOf(hub, 'west');

  for (const program of ['fleet', 'muster'] as const) {
    const wanted = await inputs(images[program]);
    expect(await host.diff(release, wanted)).toMatchObject({ changes: 'some', replaces: [] });
    release = await host.update(release, wanted);
    expect(release.initErrors).toBeUndefined();
    last = await seen(hub, 'west', Math.max(lastSeen(last), Date.now()));
    const lease = await edge.client.get(Leases, { namespace: systemNamespace, name: 'fleet-agent' });
    expect(lease.spec?.holderIdentity).toBeTruthy();
    expect((await requestsOf(hub, 'west')).map(({ metadata }) => metadata.uid)).toEqual([request?.metadata.uid]);
    const now = await edge.credential();
    expect(now?.metadata.uid).toBe(stored.metadata.uid);
    expect(now?.data).toEqual({ ...stored.data, kubeconfig: now?.data?.['kubeconfig'] });
    const { token, ...place } = kubeconfigIn(now, 'kubeconfig') ?? { token: '' };
    expect(place).toEqual({ ...kubeconfigIn(stored, 'kubeconfig'), token: undefined });
    // Fleet's agent got one that lasts, and ours keeps it
    expect(lasts(token, Date.now())).toBe(true);
  }
  // only muster's agent tells the version of its cluster, so it is known who reports
  const reported = await hub.admin.get(Clusters, { namespace: workspace, name: last.metadata.name ?? '' });
  expect(reported.status?.agent).toHaveProperty('kubernetesVersion');

  await host.delete(release);
  expect(await edge.client.find(Secrets, { namespace: systemNamespace, name: 'fleet-agent' })).toBeUndefined();
});
