/** What users of Fleet have reported, row by row of docs/fleet-reports.md, where no other test is about it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations, ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { registrationSecretName } from '../../../api/fleet/names.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { isDnsLabel } from '../../../api/kubernetes/names.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { FaultProxy, poll } from '../../../test/harness/index.ts';
import { ask, answerTo, asToken, clusterThat, condition, createToken } from '../../../test/support/registering.ts';
import { cluster, valuesOf, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub } from '../../../test/support/running-hub.ts';
import type { KubeClient } from '../../kube/client.ts';

let hub: RunningHub;
let agent: KubeClient;

beforeAll(async () => {
  // a server that caps tokens: all of them are token Secrets, which kube-controller-manager fills
  hub = await startRunningHub('reports', { plane: { apiServerArgs: ['--service-account-max-token-expiration=24h'] } });
  await createToken(hub, 'tok');
  agent = await asToken(hub, 'tok');
});
afterAll(() => hub?.close());
afterEach(() => hub.plane.restart('kube-controller-manager'));

async function requestThat(request: ClusterRegistration, look: (now: ClusterRegistration) => boolean, what: string) {
  const find = async () => {
    const found = await hub.admin.find(ClusterRegistrations, parseKey(keyOf(request)));
    return found !== undefined && look(found) ? found : undefined;
  };
  return await poll(find, { what, limitMs: 30_000 });
}
const answered = async ({ spec }: ClusterRegistration) => {
  const name = registrationSecretName(spec?.clientID ?? '', spec?.clientRandom ?? '');
  return await hub.admin.find(Secrets, { namespace: registrationNamespace, name });
};
const tokenThat = (name: string, status: string) =>
  poll(
    async () => {
      const found = await hub.admin.find(ClusterRegistrationTokens, { namespace: workspace, name });
      return condition(found, 'Issued')?.status === status ? found : undefined;
    },
    { what: `token ${name}: Issued ${status}`, limitMs: 30_000 },
  );

describe('a cluster that fills token Secrets late', () => {
  it('given that nobody fills them, when a token is made, then it says so, and goes on when they are filled (fleet#707)', async () => {
    await hub.plane.stop('kube-controller-manager');
    await createToken(hub, 'unfilled');
    const waiting = await tokenThat('unfilled', 'False');
    expect(condition(waiting, 'Issued')).toMatchObject({ reason: 'WaitingForServiceAccountToken' });
    expect(waiting.status?.secretName).toBeUndefined();
    await hub.plane.restart('kube-controller-manager');
    const issued = await tokenThat('unfilled', 'True');
    expect(issued.status?.secretName).toBe('unfilled');
    const values = await valuesOf(hub, 'unfilled');
    await ask(hub.asBearer(values.token), { clientID: 'unfilled', token: 'unfilled' });
  }, 90_000);

  it('given a token Secret that is there but empty, when the hub starts again, then nothing is granted until it is filled', async () => {
    // a naive hub copies the empty token into the answer at its second look
    await hub.plane.stop('kube-controller-manager');
    const request = await ask(agent, { clientID: 'empty', token: 'tok' });
    await poll(
      async () => {
        const { items } = await hub.admin.list(Secrets);
        const begun = items.find(({ metadata }) => metadata.name?.startsWith(`${request.metadata.name ?? ''}-`));
        return begun?.type === 'kubernetes.io/service-account-token' ? begun : undefined;
      },
      { what: 'the token Secret' },
    );
    await hub.stop();
    await hub.start();
    await hub.quiet();
    expect(await answered(request)).toBeUndefined();
    await hub.plane.restart('kube-controller-manager');
    const answer = await answerTo(agent, request);
    expect(answer['token']?.length).toBeGreaterThan(100);
  }, 90_000);
});

describe('labels of a Cluster', () => {
  it('given that its owner changed one, when the agent registers again with another, then the owner’s stays (fleet#5352)', async () => {
    const clusterLabels = { env: 'dev' };
    const first = await ask(agent, { clientID: 'labels', token: 'tok', clusterLabels });
    const { clusterName: name = '' } = await answerTo(agent, first);
    await hub.admin.patch(
      Clusters,
      { namespace: workspace, name },
      { metadata: { labels: { env: 'prod' } } },
      { type: 'merge' },
    );
    await requestThat(first, ({ status }) => status?.granted === true, 'granted');
    await hub.admin.delete(ClusterRegistrations, parseKey(keyOf(first)));
    const again = await ask(agent, { clientID: 'labels', token: 'tok', clusterLabels: { env: 'test', new: 'one' } });
    expect(await answerTo(agent, again)).toMatchObject({ clusterName: name });
    await hub.quiet();
    const { metadata } = await hub.admin.get(Clusters, { namespace: workspace, name });
    expect(metadata.labels).toMatchObject({ env: 'prod' });
    expect(metadata.labels).not.toHaveProperty('new');
  });

  it('given a registration without any, when it is made, then it is granted (fleet#2255)', async () => {
    const request = await agent.create(ClusterRegistrations, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'ClusterRegistration',
      metadata: { generateName: 'request-', namespace: workspace },
      spec: { clientID: 'no-labels', clientRandom: 'x' },
    });
    expect(await answerTo(agent, request)).toHaveProperty('token');
  });
});

describe('names', () => {
  it('given a Cluster with a dot in its name, when it is made, then its namespace is valid or it says why not (rancher#33584)', async () => {
    await hub.admin.create(Clusters, cluster('a.b', { clientID: 'dotted' }));
    const told = await clusterThat(hub, 'a.b', (c) => condition(c, 'Processed') !== undefined, 'processed');
    const valid = isDnsLabel(told.status?.namespace ?? '');
    expect(valid || condition(told, 'Processed')?.reason === 'InvalidSpec').toBe(true);
  });
});

describe('an API server that answers 500', () => {
  it.each([
    ['all that it reads', { method: 'GET' }],
    ['the first lists of its caches', { method: 'GET', path: /[?&]limit=/, watch: false }],
  ])(
    'given that it does so while the hub starts, for %s, when it is well again, then the hub works without a restart',
    async (what, match) => {
      await hub.stop();
      const proxy = await FaultProxy.start(hub.plane);
      try {
        proxy.fail({ match, status: 500, times: 25 });
        await hub.start({ server: proxy.server, ca: proxy.ca });
        const request = await ask(agent, { clientID: `after-500-${what.length}`, token: 'tok' });
        expect(await answerTo(agent, request, 40_000)).toHaveProperty('token');
      } finally {
        await hub.stop();
        await proxy.close();
        await hub.start();
      }
    },
    60_000,
  );
});

describe('a status that two write', () => {
  it('given heartbeats while the hub writes conditions, when a write of it arrives late, then lastSeen never goes back', async () => {
    const proxy = await FaultProxy.start(hub.plane);
    await hub.stop();
    await hub.start({ server: proxy.server, ca: proxy.ca });
    try {
      const { clusterName: name = '' } = await answerTo(agent, await ask(agent, { clientID: 'racing', token: 'tok' }));
      await hub.quiet();
      const beat = async (lastSeen: string): Promise<void> => {
        const status = { agent: { lastSeen, namespace: 'x' } };
        const options = { type: 'merge', subresource: 'status' } as const;
        await hub.admin.patch(Clusters, { namespace: workspace, name }, { status }, options);
      };
      const write = { method: 'PATCH', path: new RegExp(`/clusters/${name}/status`) };
      const before = proxy.count(write);
      proxy.fail({ match: write, slowMs: 1000 });
      await beat('2026-01-01T00:00:01Z');
      await poll(() => (proxy.count(write) > before ? true : undefined), { what: 'a write of the hub' });
      await beat('2026-01-01T00:00:02Z');
      const ready = await clusterThat(hub, name, (cluster) => condition(cluster, 'Ready')?.status === 'True', 'Ready');
      expect(ready.status?.agent?.lastSeen).toBe('2026-01-01T00:00:02Z');
    } finally {
      await hub.stop();
      await proxy.close();
      await hub.start();
    }
  }, 60_000);
});
