/**
 * Clusters that the hub cannot reach: each on a network of its own, with its agent as the pod that a user's manifests
 * make. It registers, reports, is cut off until both sides have noticed, and comes back by itself.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { ClusterRegistrations, Clusters } from '../../api/fleet/kinds.ts';
import { conditionTypes, reasons } from '../../api/conditions.ts';
import { Pods } from '../../api/kubernetes/core.ts';
import { synthAgent } from '../../components/fleet/index.ts';
import { displayStates } from '../../runtime/hub/fleet/cluster-status.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { buildImage, musterImageRef } from '../../tools/image/index.ts';
import type { LocalCluster } from '../harness/index.ts';
import {
  clusterRange,
  ConnectProxy,
  insideAddress,
  isolationSupport,
  outsideAddress,
  poll,
  startLocalCluster,
} from '../harness/index.ts';
import { applyAll } from '../support/hub-plane.ts';
import { clusterThat, condition, createToken, valuesOf, workspace } from '../support/registering.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../support/running-hub.ts';

const support = isolationSupport();
/** Short, so that a missed heartbeat is seen in seconds. */
const checkinInterval = '2s';
const hubPort = 6443;
const proxyPort = 3128;
const hubAddress = `${outsideAddress}:${hubPort}`;

interface Way {
  readonly way: string;
  readonly name: string;
  readonly proxied: boolean;
}
const ways: Way[] = [
  { way: 'directly', name: 'one-way', proxied: false },
  { way: 'through a CONNECT proxy, the only way out', name: 'proxied', proxied: true },
];

describe.skipIf(!support.supported)(`a cluster behind a one-way network ${support.reason ?? ''}`.trimEnd(), () => {
  let hub: RunningHub;
  let proxy: ConnectProxy;
  let image: string;

  beforeAll(async () => {
    image = (await buildImage()).archive;
    hub = await startRunningHub('one-way-hub', { plane: { hosts: [outsideAddress] } });
    await hub.configure({ apiServerURL: `https://${hubAddress}`, agentCheckinInterval: checkinInterval });
    proxy = await ConnectProxy.start({ [hubAddress]: hub.plane.server });
  }, 180_000);
  afterAll(async () => {
    await hub?.close();
    await proxy?.close();
  });

  describe.each(ways)('that reaches its hub $way', ({ name, proxied }) => {
    let edge: LocalCluster;
    let admin: KubeClient;
    let registered: string;

    beforeAll(async () => {
      const reach: Record<number, string> = proxied ? { [proxyPort]: proxy.url } : { [hubPort]: hub.plane.server };
      edge = await startLocalCluster({ name, images: [image], network: { reach } });
      admin = edge.plane.client();
    }, 180_000);
    afterAll(async () => {
      await admin?.close();
      await edge?.close();
    });

    const clusterIs = (look: (cluster: Cluster) => boolean, what: string): Promise<Cluster> =>
      clusterThat(hub, registered, look, what, 120_000);
    const online = (cluster: Cluster) => condition(cluster, conditionTypes.online);
    const lastSeen = (cluster: Cluster) => Date.parse(cluster.status?.agent?.lastSeen ?? '');
    const agentPods = async () => (await admin.list(Pods, { namespace: systemNamespace })).items;
    const requests = async () => {
      const { items } = await hub.admin.list(ClusterRegistrations, { namespace: workspace });
      return items.filter(({ status }) => status?.clusterName === registered).map(({ metadata }) => metadata.uid);
    };
    const reported = async (times: number, since: Cluster): Promise<void> => {
      for (let seen = lastSeen(since), n = 0; n < times; n++) {
        seen = lastSeen(await clusterIs((cluster) => lastSeen(cluster) > seen, `a heartbeat after ${seen}`));
      }
    };

    it('cannot be reached by the hub', async () => {
      const targets = [
        { host: insideAddress, port: edge.plane.port },
        { host: edge.address, port: edge.plane.port },
        { host: '10.0.0.1', port: 443 }, // its Service
      ];
      for (const { host, port } of targets) {
        expect(await edge.network?.outside.dial({ host, port }, 1_000)).toBeUndefined();
      }
    });

    it('registers with a token, from the manifests that a user applies', async () => {
      await createToken(hub, name);
      const bootstrap = await valuesOf(hub, name);
      expect(bootstrap.apiServerURL).toBe(`https://${hubAddress}`);
      const envVars = [
        { name: 'HTTPS_PROXY', value: `http://${outsideAddress}:${proxyPort}` },
        { name: 'NO_PROXY', value: clusterRange },
      ];
      const workload = { image: musterImageRef, imagePullPolicy: 'Never', checkinInterval };
      await applyAll(
        admin,
        synthAgent({ ...workload, bootstrap, labels: { way: name }, ...(proxied ? { envVars } : {}) }),
      );

      const find = async () =>
        (await hub.admin.list(Clusters, { namespace: workspace, labelSelector: `way=${name}` })).items[0];
      registered = (await poll(find, { what: 'the Cluster' })).metadata.name ?? '';
      const ready = await clusterIs((cluster) => condition(cluster, 'Ready')?.status === 'True', 'Ready');
      expect(online(ready)).toMatchObject({ status: 'True', reason: reasons.checkedIn });
      expect(proxy.tunnels > 0).toBe(proxied);
    }, 120_000);

    it('runs its agent on the pod network, and reports at its interval', async () => {
      const [pod] = await agentPods();
      expect(pod?.spec?.hostNetwork ?? false).toBe(false);
      expect(pod?.status?.podIP).toMatch(/^10\.88\.1\./);

      await reported(2, await clusterIs(() => true, 'there'));
    }, 60_000);

    it('is offline for the hub, and not ready for itself, once it is cut off', async () => {
      await edge.network?.cut();

      const offline = await clusterIs((cluster) => online(cluster)?.status === 'False', 'offline');
      expect(online(offline)).toMatchObject({ reason: reasons.heartbeatOverdue });
      expect(online(offline)?.message).toContain('has not reported since');
      expect(offline.status?.display?.state).toBe(displayStates.offline);
      // Its connection is dead without knowing: it takes a whole request to find out.
      const noticed = async () =>
        (await agentPods())[0]?.status?.containerStatuses?.[0]?.ready === false ? true : undefined;
      await poll(noticed, { what: 'the agent to notice', limitMs: 120_000 });
    }, 150_000);

    it('comes back by itself: same request, same pod, no restart', async () => {
      const [before] = await agentPods();
      const granted = await requests();
      expect(granted).toHaveLength(1);

      await edge.network?.heal();

      const back = await clusterIs((cluster) => online(cluster)?.status === 'True', 'online');
      expect(condition(back, 'Ready')?.status).toBe('True');
      await reported(2, back);
      expect(await requests()).toEqual(granted);
      await expect
        .poll(async () => (await agentPods()).map(({ status }) => status?.containerStatuses), { timeout: 60_000 })
        .toMatchObject([[{ ready: true, restartCount: 0 }]]);
      expect((await agentPods()).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
    }, 180_000);
  });

  it('leaves the proxy nothing to pass on but the hub', () => {
    expect(new Set(proxy.asked)).toEqual(new Set([hubAddress]));
  });
});
