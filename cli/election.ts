/** Leader election as an environment gives it: Fleet's three variables, which only make sense together. */
import { durations } from '../api/durations.ts';
import { goTogether } from '../runtime/kube/leader-election.ts';
import { durationOf } from './env.ts';
import type { Env } from './env.ts';

/** Milliseconds. */
export interface Election {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** Of agents, where nothing else is said. */
export const agentElection: Election = {
  leaseDurationMs: durations.agentLeaseDuration,
  renewDeadlineMs: durations.agentLeaseRenewDeadline,
  retryPeriodMs: durations.agentLeaseRetryPeriod,
};

/**
 * `PREFIX_LEASE_DURATION`, `_RENEW_DEADLINE` and `_RETRY_PERIOD`, each with the default of agents. Times that would let
 * two lead are not used, because a program that ends for them starts again for ever: the defaults are, and `warning` says
 * so. Throws INVALID_ARGUMENT naming a variable that is no duration.
 */
export function electionOf(env: Env, prefix: string): { readonly election: Election; readonly warning?: string } {
  const election = {
    leaseDurationMs: durationOf(env, `${prefix}_LEASE_DURATION`) ?? agentElection.leaseDurationMs,
    renewDeadlineMs: durationOf(env, `${prefix}_RENEW_DEADLINE`) ?? agentElection.renewDeadlineMs,
    retryPeriodMs: durationOf(env, `${prefix}_RETRY_PERIOD`) ?? agentElection.retryPeriodMs,
  };
  const { leaseDurationMs: lease, renewDeadlineMs: deadline, retryPeriodMs: retry } = election;
  if (goTogether(lease, deadline, retry)) return { election };
  const warning =
    `${prefix}_…: lease duration ${lease / 1000} s, renew deadline ${deadline / 1000} s and retry period ${retry / 1000} s ` +
    'would let two lead; each must be shorter than the one before and above zero. The defaults (30s, 25s, 10s) are used';
  return { election: agentElection, warning };
}
