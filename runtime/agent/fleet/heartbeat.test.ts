import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { MemoryCluster, refusal } from '../../../test/support/memory-cluster.ts';
import { heartbeatDelay, sendHeartbeat } from './heartbeat.ts';

const key = { namespace: 'fleet-default', name: 'east' };
const beat = { cluster: key, agentNamespace: 'agents', now: Date.UTC(2026, 10, 29, 22, 0, 0, 999) };
const cluster = (status?: object): Cluster =>
  ({ apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'Cluster', metadata: key, spec: {}, status }) as unknown as Cluster;

describe('sendHeartbeat', () => {
  it('given a Cluster with a status, then only status.agent changes, in one call', async () => {
    const hub = new MemoryCluster('https://hub');
    hub.add(Clusters, cluster({ namespace: 'n', agent: { lastSeen: null, namespace: '' } }));
    await sendHeartbeat(hub.client(), beat);
    expect(hub.one(Clusters, key)).toMatchObject({
      status: { namespace: 'n', agent: { lastSeen: '2026-11-29T22:00:00Z', namespace: 'agents' } },
    });
    expect(hub.calls).toHaveLength(1);
  });

  it('given a Cluster without status, then the heartbeat lands all the same', async () => {
    const hub = new MemoryCluster('https://hub');
    hub.add(Clusters, cluster());
    await sendHeartbeat(hub.client(), beat);
    expect(hub.one(Clusters, key)).toMatchObject({ status: { agent: { lastSeen: '2026-11-29T22:00:00Z' } } });
  });

  it('given a refusal, then it is thrown and not tried another way', async () => {
    const hub = new MemoryCluster('https://hub');
    hub.before = (call) => {
      throw refusal(403, 'Forbidden', call.what);
    };
    await expect(sendHeartbeat(hub.client(), beat)).rejects.toMatchObject({ status: 403 });
    expect(hub.calls).toHaveLength(1);
  });
});

describe('heartbeatDelay', () => {
  it('given an interval, then the pause is within 5 % of it', () => {
    expect(heartbeatDelay(1000, () => 0)).toBe(950);
    expect(heartbeatDelay(1000, () => 0.5)).toBe(1000);
    expect(heartbeatDelay(1000, () => 1)).toBe(1050);
  });
});
