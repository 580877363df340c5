import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { answerEnds } from './answer-janitor.ts';
import { readConfigMap } from './config-controller.ts';
import type { ClusterView } from './cluster-status.ts';
import { clusterStatus } from './cluster-status.ts';
import { isHeld } from './start-guard.ts';

const now = new Date('2026-01-01T00:00:00Z');
const cluster = (status: Cluster['status'] = {}): Cluster => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'c', namespace: 'ws' },
  status,
});
const view = (changes: Partial<ClusterView> = {}): ClusterView => ({
  namespace: 'cluster-ws-c',
  registration: { state: 'granted' },
  liveness: { state: 'online', untilMs: 0 },
  ...changes,
});
const told = (changes: Partial<ClusterView>) => {
  const status = clusterStatus(cluster(), view(changes), now);
  const conditions = Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: value, reason }) => [type, `${value} ${reason}`]),
  );
  return { ...conditions, state: status.display?.state };
};

describe('what a Cluster says', () => {
  const waiting = { state: 'waiting', reason: 'WaitingForAgent', message: 'm' } as const;
  it.each<[string, Partial<ClusterView>, Record<string, string>]>([
    [
      'all well',
      {},
      {
        Processed: 'True Succeeded',
        Registered: 'True Succeeded',
        AgentReachable: 'True CheckedIn',
        Ready: 'True Succeeded',
        state: 'Ready',
      },
    ],
    [
      'no agent yet',
      { registration: waiting, liveness: { state: 'never' } },
      {
        Registered: 'False WaitingForAgent',
        AgentReachable: 'Unknown WaitingForAgent',
        Ready: 'False WaitingForAgent',
        state: 'WaitCheckIn',
      },
    ],
    [
      'granted, silent',
      { liveness: { state: 'never' } },
      { AgentReachable: 'Unknown WaitingForHeartbeat', Ready: 'False WaitingForHeartbeat', state: 'WaitCheckIn' },
    ],
    [
      'no agent, and its cluster knows why',
      { registration: waiting, liveness: { state: 'never' }, trouble: 'pod x: ImagePullBackOff' },
      {
        Registered: 'False AgentNotRunning',
        AgentReachable: 'Unknown AgentNotRunning',
        Ready: 'False AgentNotRunning',
      },
    ],
    [
      'offline',
      { liveness: { state: 'offline', sinceMs: 0 } },
      {
        Registered: 'True Succeeded',
        AgentReachable: 'False HeartbeatOverdue',
        Ready: 'False HeartbeatOverdue',
        state: 'Offline',
      },
    ],
    [
      'namespace taken',
      { namespace: { reason: 'NamespaceTaken', message: 'm' } },
      { Processed: 'False NamespaceTaken', Ready: 'False NamespaceTaken' },
    ],
  ])('given %s, when computed, then conditions tell', (_what, changes, expected) => {
    expect(told(changes)).toMatchObject(expected);
  });

  it('given fields of the agent and of others, when computed, then they stay', () => {
    const before = {
      agent: { lastSeen: '2026-01-01T00:00:00Z' },
      agentDeployedGeneration: 3,
      conditions: [{ type: 'Imported', status: 'True' }],
    };
    expect(clusterStatus(cluster(before), view(), now)).toMatchObject({
      agent: before.agent,
      agentDeployedGeneration: 3,
      conditions: [{ type: 'Imported' }, {}, {}, {}, {}],
    });
  });

  it('given nothing new, when computed again later, then it is the same, so nothing is written', () => {
    const first = clusterStatus(cluster(), view(), now);
    expect(clusterStatus(cluster(first), view(), new Date('2027-01-01T00:00:00Z'))).toEqual(first);
  });
});

describe('answers to requests', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } };
  const minutes = (heardMs: number | undefined) => (answerEnds(secret, heardMs) - now.getTime()) / 60_000;
  it('given an agent that never came, when asked, then its answer stays 40 minutes', () => {
    expect(minutes(undefined)).toBe(40);
    expect(minutes(now.getTime() - 1)).toBe(40); // the heartbeat of the agent before it
  });
  it('given a heartbeat after it, when asked, then it goes soon', () => {
    expect(minutes(now.getTime() + 5)).toBe(1);
  });
});

describe('the configuration', () => {
  const map = (config?: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {},
    ...(config === undefined ? {} : { data: { config } }),
  });
  it('given JSON with a bad duration, when read, then only that is left out', () => {
    const read = readConfigMap(map('{"apiServerURL":"https://a","agentCheckinInterval":"soon"}'));
    expect(read).toMatchObject({
      config: { apiServerURL: 'https://a' },
      warnings: [expect.stringContaining('agentCheckinInterval')],
    });
  });
  it('given something else, when read, then it is a problem and no exception', () => {
    expect(readConfigMap(map('{'))).toHaveProperty('problem');
  });
});

describe('the lease of a hub of Fleet', () => {
  const lease = (renewTime: string) => ({
    apiVersion: 'v1',
    kind: 'Lease',
    metadata: {},
    spec: { holderIdentity: 'h', renewTime, leaseDurationSeconds: 30 },
  });
  it('given it was renewed just now, when asked, then it is held; later it is not', () => {
    expect(isHeld(lease('2026-01-01T00:00:00.000000Z'), now.getTime() + 29_000)).toBe(true);
    expect(isHeld(lease('2026-01-01T00:00:00.000000Z'), now.getTime() + 31_000)).toBe(false);
    expect(isHeld({ apiVersion: 'v1', kind: 'Lease', metadata: {} }, 0)).toBe(false);
  });
});
