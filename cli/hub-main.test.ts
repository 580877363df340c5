import { describe, expect, test } from 'vitest';
import { hubSettings } from './hub-main.ts';

describe('what the environment of a hub says of agents', () => {
  test('given nothing, then agents are as they are', () => {
    expect(hubSettings({}).agentDefaults).toEqual({});
    expect(hubSettings({ FLEET_AGENT_REPLICA_COUNT: '0' }).agentDefaults).toEqual({});
  });

  test('given what the chart of Fleet sets, then it goes to every agent', () => {
    const env = {
      FLEET_AGENT_REPLICA_COUNT: '2',
      FLEET_AGENT_ELECTION_LEASE_DURATION: '30s',
      FLEET_AGENT_ELECTION_RENEW_DEADLINE: '25s',
      FLEET_AGENT_ELECTION_RETRY_PERIOD: '10s',
    };
    expect(hubSettings(env).agentDefaults).toEqual({
      replicas: 2,
      election: { leaseDuration: '30s', renewDeadline: '25s', retryPeriod: '10s' },
    });
  });

  test('given times that would let two agents lead, then agents are as they are', () => {
    const env = { FLEET_AGENT_ELECTION_LEASE_DURATION: '5s', FLEET_AGENT_ELECTION_RENEW_DEADLINE: '30s' };
    expect(hubSettings(env).agentDefaults).toEqual({});
  });

  test.each(['FLEET_AGENT_REPLICA_COUNT', 'FLEET_AGENT_ELECTION_LEASE_DURATION'])(
    'given no such value for %s, then it is named',
    (name) => {
      expect(() => hubSettings({ [name]: 'many' })).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT', where: `env ${name}` }) as Error,
      );
    },
  );
});
