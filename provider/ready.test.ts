import { describe, expect, test } from 'vitest';
import type { Cluster, ClusterStatus } from '../api/fleet/kinds.ts';
import { isHopeless, isReady, whyNotReady } from './ready.ts';

const cluster = (status?: ClusterStatus, spec: Cluster['spec'] = {}): Cluster => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'east', namespace: 'fleet-default' },
  spec,
  ...(status === undefined ? {} : { status }),
});
const ready = { type: 'Ready', status: 'True' };
const seen = { lastSeen: '2026-01-01T00:00:00Z' };

describe('isReady', () => {
  test('asks for a heartbeat and the hub’s word', () => {
    expect(isReady(cluster())).toBe(false);
    expect(isReady(cluster({ conditions: [ready] }))).toBe(false);
    expect(isReady(cluster({ conditions: [ready], agent: { lastSeen: '0001-01-01T00:00:00Z' } }))).toBe(false);
    expect(isReady(cluster({ agent: seen }))).toBe(false);
    expect(isReady(cluster({ conditions: [ready], agent: seen }))).toBe(true);
  });

  test('takes the word of a hub of Fleet, which has neither Registered nor AgentReachable', () => {
    const conditions = [{ type: 'Processed', status: 'True' }, { type: 'Imported', status: 'True' }, ready];
    expect(isReady(cluster({ conditions, agent: seen }))).toBe(true);
    const token = [{ type: 'Processed', status: 'True' }, ready];
    expect(isReady(cluster({ conditions: token, agent: seen }, { clientID: 'x' }))).toBe(true);
    expect(isReady(cluster({ conditions: token, agent: { lastSeen: null } }, { clientID: 'x' }))).toBe(false);
  });

  test('is not fooled by the state of before: offline, or a redeployment that is still to come', () => {
    const offline = { type: 'AgentReachable', status: 'False' };
    expect(isReady(cluster({ conditions: [ready, offline], agent: seen }))).toBe(false);
    const spec = { redeployAgentGeneration: 2, kubeConfigSecret: 'x' };
    expect(isReady(cluster({ conditions: [ready], agent: seen, agentDeployedGeneration: 1 }, spec))).toBe(false);
    expect(isReady(cluster({ conditions: [ready], agent: seen, agentDeployedGeneration: 2 }, spec))).toBe(true);
  });
});

describe('whyNotReady', () => {
  test('names the first stage that is not passed', () => {
    const conditions = [
      { type: 'Ready', status: 'False', reason: 'WaitingForAgent' },
      { type: 'Imported', status: 'False', reason: 'ClusterUnauthorized', message: 'token expired' },
      { type: 'Processed', status: 'True' },
    ];
    expect(whyNotReady(cluster({ conditions }))).toBe('Imported is False (ClusterUnauthorized): token expired');
    expect(whyNotReady(cluster())).toContain('Is the hub running?');
    expect(whyNotReady(cluster({ conditions: [{ type: 'Processed', status: 'True' }] }))).toContain('not reported');
    expect(whyNotReady(undefined)).toContain('gone');
  });

  test('tells what the hub of Fleet waits for when the agent is not its own', () => {
    const message = 'WaitApplied(1) [Bundle fleet-agent-east]';
    const waiting = cluster({ conditions: [{ type: 'Ready', status: 'False', message }], agent: seen });
    expect(whyNotReady(waiting)).toContain('label fleet.cattle.io/non-managed-agent=true');
    const labels = { 'fleet.cattle.io/non-managed-agent': 'true' };
    expect(whyNotReady({ ...waiting, metadata: { ...waiting.metadata, labels } })).not.toContain('label');
    const other = cluster({ conditions: [{ type: 'Ready', status: 'False', message: 'NotReady(1) [Bundle web]' }] });
    expect(whyNotReady(other)).toBe('Ready is False: NotReady(1) [Bundle web]');
  });

  test('knows what waiting does not cure', () => {
    const because = (reason: string) => cluster({ conditions: [{ type: 'Imported', status: 'False', reason }] });
    expect(isHopeless(because('SelfRegistration'))).toBe(true);
    expect(isHopeless(because('ClusterUnreachable'))).toBe(false);
  });
});
