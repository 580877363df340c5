/** Head only; the body follows. */
import { MusterError } from '../../api/errors.ts';
import type { KubeClient } from './client.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Options of {@link createLeaderElector}. The Lease `namespace/name` is made when it is not there. */
export interface LeaderElectionOptions {
  readonly name: string;
  readonly namespace: string;
  /** Unique per process: the pod's name, or host and random suffix. */
  readonly identity: string;
  /** How long others wait for a silent leader. Default: `durations.leaseDuration`. */
  readonly leaseDurationMs?: number;
  /** A leader that could not renew for this long steps down; must be less than the lease. Default: `durations.leaseRenewDeadline`. */
  readonly renewDeadlineMs?: number;
  /** Time between tries. Default: `durations.leaseRetry`. */
  readonly retryMs?: number;
}

export interface LeaderElector {
  readonly isLeader: boolean;
  /**
   * Waits for the lease, then calls `lead` with a signal that aborts when `signal` does or when the lease is lost.
   * Releases the lease after `lead` has ended. Resolves when `signal` aborted or `lead` returned; rejects with
   * MusterError CONFLICT when the lease was lost (the process should exit and start afresh), or with the error of `lead`.
   */
  run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

export function createLeaderElector(
  _client: KubeClient,
  _options: LeaderElectionOptions,
  _environment: { logger?: Logger; metrics?: Metrics } = {},
): LeaderElector {
  throw new MusterError('INTERNAL', 'createLeaderElector is being written');
}
