import { describe, expect, it } from 'vitest';
import { durations } from '../../../api/durations.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { moreIn } from './cluster-view.ts';
import { createConfigStore } from './config-store.ts';

const { firstReportSoon, importSoon } = durations;
const now = Date.UTC(2026, 0, 2);
const key = 'ws/c';
const cluster = (ageMs: number, more: Partial<Cluster> = {}): Cluster => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'c', namespace: 'ws', creationTimestamp: new Date(now - ageMs).toISOString() },
  spec: { clientID: 'id', kubeConfigSecret: 'c-kubeconfig' },
  ...more,
});
const request = (clusterName: string): ClusterRegistration => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'ClusterRegistration',
  metadata: { name: 'request-1', namespace: 'ws' },
  spec: { clientID: 'id' },
  status: { granted: true, clusterName },
});

/** Granted `publishedMs` ago, and its agent heard of `heardMs` ago. */
function hub({ requests = [] as ClusterRegistration[], publishedMs = NaN, heardMs = NaN } = {}) {
  const at = (name: string, agoMs: number) => new Map(Number.isNaN(agoMs) ? [] : [[name, now - agoMs]]);
  const none = { get: () => undefined, byIndex: () => [] };
  return {
    config: createConfigStore({}),
    clusters: none as never,
    serviceAccounts: none as never,
    requests: { byIndex: () => requests } as never,
    published: at('ws/request-1', publishedMs),
    observed: at(key, heardMs),
  };
}

describe('a new Cluster without a status', () => {
  it('given one that is imported, then its first status waits for what comes of that, until it is some seconds old', () => {
    expect(moreIn(hub(), cluster(1_000), now)).toBe(importSoon - 1_000);
    expect(moreIn(hub(), cluster(importSoon), now)).toBe(0);
  });
  it('given one that was made in the future of this clock, then it does not wait', () => {
    expect(moreIn(hub(), cluster(-60_000), now)).toBe(0);
  });
  it('given one that no hub installs an agent in, then it does not wait', () => {
    expect(moreIn(hub(), cluster(0, { spec: { clientID: 'id' } }), now)).toBe(0);
  });
});

describe('a Cluster that an agent was just granted', () => {
  const known = cluster(0, { status: { namespace: 'cluster-ws-c' } });
  const granted = { requests: [request('c')], publishedMs: 200 };

  it('given an agent that has not reported, then it waits for that, for a moment', () => {
    expect(moreIn(hub(granted), known, now)).toBe(firstReportSoon - 200);
    expect(moreIn(hub({ ...granted, publishedMs: firstReportSoon }), known, now)).toBe(0);
  });
  it('given a report since, then it waits no longer; one of before does not count', () => {
    expect(moreIn(hub({ ...granted, heardMs: 100 }), known, now)).toBe(0);
    expect(moreIn(hub({ ...granted, heardMs: 300 }), known, now)).toBe(firstReportSoon - 200);
  });
  it('given a request for another Cluster, or one that another process granted, then it does not wait', () => {
    expect(moreIn(hub({ ...granted, requests: [request('d')] }), known, now)).toBe(0);
    expect(moreIn(hub({ requests: [request('c')] }), known, now)).toBe(0);
  });
});
