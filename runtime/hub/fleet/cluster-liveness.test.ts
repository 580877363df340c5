import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { inheritLiveness, livenessOf } from './cluster-liveness.ts';
import { createConfigStore } from './config-store.ts';

const minute = 60_000;
const now = Date.UTC(2026, 0, 2);
const at = (ms: number): string => new Date(ms).toISOString();
const cluster = (lastSeen: number, reachable: 'True' | 'False' = 'True'): Cluster => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'c', namespace: 'ws' },
  status: { agent: { lastSeen: at(lastSeen) }, conditions: [{ type: 'AgentReachable', status: reachable }] },
});
/** A hub that has just started: interval one minute, so offline after two and a half. */
const started = (found: Cluster) => {
  const context = {
    config: createConfigStore({ agentCheckinInterval: '1m' }),
    observed: new Map<string, number>(),
    inherited: new Map<string, number>(),
  };
  inheritLiveness(context, found, now);
  return (afterMs: number) => livenessOf(context, found, now + afterMs).state;
};

describe('liveness after a start of the hub', () => {
  it('given an agent that was heard lately, then it is offline two and a half intervals after its own time', () => {
    const state = started(cluster(now - minute));
    expect([state(0), state(1.4 * minute), state(1.6 * minute)]).toEqual(['online', 'online', 'offline']);
  });
  it('given one that was reachable and whose clock is slow, then it has one silence to report', () => {
    const state = started(cluster(now - 300 * minute));
    expect([state(0), state(2.4 * minute), state(2.6 * minute)]).toEqual(['online', 'online', 'offline']);
  });
  it('given one that was not reachable, then it is offline at once', () => {
    expect(started(cluster(now - 300 * minute, 'False'))(0)).toBe('offline');
  });
});
