import { describe, expect, test } from 'vitest';
import { agentElection, electionOf } from './election.ts';

const of = (lease?: string, deadline?: string, retry?: string) =>
  electionOf({ A_LEASE_DURATION: lease, A_RENEW_DEADLINE: deadline, A_RETRY_PERIOD: retry }, 'A');

describe('leader election by environment (fleet#3501, rancher#52905, fleet#4131)', () => {
  test('given nothing, or all that fits, then it is used without a word', () => {
    expect(of()).toEqual({ election: agentElection });
    expect(of('60s', '', '5s').election).toMatchObject({ leaseDurationMs: 60_000, retryPeriodMs: 5_000 });
    expect(of('60s', '40s', '5s')).not.toHaveProperty('warning');
  });

  test.each([
    ['a lease that is shorter than the default of the deadline', '20s', undefined, undefined],
    ['a deadline as long as the lease', '30s', '30s', '10s'],
    ['a retry as long as the deadline', '30s', '10s', '10s'],
    ['no pause between tries', '30s', '25s', '0s'],
  ])('given %s, then the defaults are used, and it is told', (_what, lease, deadline, retry) => {
    const { election, warning } = of(lease, deadline, retry);
    expect(election).toEqual(agentElection);
    expect(warning).toMatch(/^A_…: lease duration .* would let two lead/);
  });

  test('given what is no duration, then the variable is named', () => {
    expect(() => of('soon')).toThrow(/A_LEASE_DURATION|duration/);
  });
});
