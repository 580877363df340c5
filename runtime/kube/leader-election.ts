/**
 * One leader among replicas, by a Lease, as client-go does it: whoever renews holds it; a lease that nobody renewed for
 * its duration, by the observer's own clock, may be taken; each write carries the resourceVersion, so of two only one
 * wins. A leader that cannot renew steps down before others may follow, which leaves its work time to stop.
 */
import type { Lease } from '../../api/kubernetes/workloads.ts';
import { Leases } from '../../api/kubernetes/workloads.ts';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import { backoffMs, pause } from './backoff.ts';
import type { CallOptions, KubeClient } from './client.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { kubeMetrics } from './metrics.ts';
import { microTime } from './micro-time.ts';

/** Options of {@link createLeaderElector}. The Lease `namespace/name` is made when it is not there. */
export interface LeaderElectionOptions {
  readonly name: string;
  readonly namespace: string;
  /** Unique per process: the pod's name, or host and random suffix. */
  readonly identity: string;
  /** How long others wait for a silent leader. Default: `durations.leaseDuration`. */
  readonly leaseDurationMs?: number;
  /** A leader that could not renew for this long steps down; less than the lease. Default: `durations.leaseRenewDeadline`. */
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

/** Whether no two can lead with these times, in milliseconds: each shorter than the one before, and above zero. */
export function goTogether(leaseDurationMs: number, renewDeadlineMs: number, retryMs: number): boolean {
  return leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryMs && retryMs > 0;
}

/** Throws MusterError INVALID_ARGUMENT when the durations do not go together. */
export function createLeaderElector(
  client: KubeClient,
  options: LeaderElectionOptions,
  environment: { logger?: Logger; metrics?: Metrics } = {},
): LeaderElector {
  return new LeaseElector(client, options, environment);
}

class LeaseElector implements LeaderElector {
  isLeader = false;
  #client: KubeClient;
  #options: Required<LeaderElectionOptions>;
  #logger: Logger;
  #metrics: Metrics | undefined;
  /** The Lease as last seen, and when (by our clock) it was last seen to change. */
  #lease: Lease | undefined;
  #changedAt = 0;
  /** Whom this one waits for, as last told in the log. */
  #holder = '';
  /** Tries in a row that the API server refused or did not answer. */
  #failures = 0;

  constructor(client: KubeClient, options: LeaderElectionOptions, environment: { logger?: Logger; metrics?: Metrics }) {
    this.#client = client;
    this.#options = {
      leaseDurationMs: durations.leaseDuration,
      renewDeadlineMs: durations.leaseRenewDeadline,
      retryMs: durations.leaseRetry,
      ...options,
    };
    const { leaseDurationMs, renewDeadlineMs, retryMs, name } = this.#options;
    if (!goTogether(leaseDurationMs, renewDeadlineMs, retryMs)) {
      throw new MusterError('INVALID_ARGUMENT', 'needs lease duration > renew deadline > retry period > 0', {
        where: `lease ${name}`,
      });
    }
    this.#logger = (environment.logger ?? silentLogger).child({ lease: name });
    this.#metrics = environment.metrics;
    this.#lead(false);
  }

  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (!(await this.#acquire(signal))) return;
    const work = new AbortController();
    const stop = (): void => work.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const over = new AbortController();
    const leading = Promise.resolve()
      .then(() => lead(work.signal))
      .finally(() => over.abort());
    const { leaseDurationMs, renewDeadlineMs } = this.#options;
    try {
      // While `lead` winds down the lease is still renewed: nobody may start before it has ended.
      await this.#renewUntil(over.signal);
      await leading;
    } catch (error) {
      if (!this.isLeader) {
        work.abort(error);
        await Promise.race([leading.catch(() => undefined), pause(leaseDurationMs - renewDeadlineMs)]);
      }
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#release();
    }
  }

  /** True once we hold the lease, false when the signal aborted. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { retryMs } = this.#options;
    while (!signal.aborted) {
      if (await this.#try(retryMs * 2, signal)) {
        this.#lead(true);
        this.#logger.info({ identity: this.#options.identity }, 'leading');
        return true;
      }
      // Whoever is refused, because rights or namespace come later, waits for nobody's lease to run out.
      const backoff = { baseMs: durations.retryFirst, maxMs: retryMs };
      const wait = this.#failures > 0 ? backoffMs(this.#failures, backoff) : retryMs;
      await pause(wait * (1 + Math.random() * 0.2), signal).catch(() => undefined);
    }
    return false;
  }

  /** Resolves when the signal aborts; rejects when the lease is lost. */
  async #renewUntil(over: AbortSignal): Promise<void> {
    const { retryMs, renewDeadlineMs, name } = this.#options;
    let renewedAt = performance.now();
    while (!over.aborted) {
      await pause(retryMs, over).catch(() => undefined);
      if (over.aborted) return;
      const left = renewedAt + renewDeadlineMs - performance.now();
      const renewed = left > 0 && (await this.#try(left));
      if (renewed) renewedAt = performance.now();
      const other = this.#lease?.spec?.holderIdentity;
      const taken = !renewed && other !== undefined && other !== '' && other !== this.#options.identity;
      if (taken || performance.now() - renewedAt >= renewDeadlineMs) {
        this.#lead(false);
        this.#logger.error({ holder: other }, 'the lease is lost');
        throw new MusterError('CONFLICT', 'is lost: it was not renewed in time or taken by another', {
          where: `lease ${this.#options.namespace}/${name}`,
          hint: 'The process ends and starts again; check the API server if it happens often.',
          retryable: true,
        });
      }
    }
  }

  /** One try to take or renew. False when somebody else holds it, was faster, or the API server did not answer. */
  async #try(timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    const call = {
      timeoutMs,
      urgent: true,
      signal: AbortSignal.any([AbortSignal.timeout(Math.ceil(timeoutMs)), ...(signal ? [signal] : [])]),
    };
    const { namespace, name, identity } = this.#options;
    const failures = this.#failures;
    this.#failures = 0;
    try {
      // A leader writes over what it wrote last; only when that fails it looks who was in between.
      if (!this.isLeader || this.#lease === undefined) {
        const found = await this.#client.find(Leases, { namespace, name }, call);
        if (found === undefined) return this.#see(await this.#client.create(Leases, this.#renewed(undefined), call));
        this.#see(found);
        const holder = found.spec?.holderIdentity ?? '';
        if (holder !== '' && holder !== identity && !this.#expired(found)) {
          if (holder !== this.#holder) this.#logger.info({ holder }, 'waiting for the lease');
          this.#holder = holder;
          return false;
        }
      }
      return this.#see(await this.#client.replace(Leases, this.#renewed(this.#lease), call));
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) await this.#look(call);
      if (!isConflict(error) && !isAlreadyExists(error) && !signal?.aborted) {
        this.#failures = failures + 1;
        this.#logger.warn({ reason: (error as Error).message }, 'cannot take or renew the lease');
      }
      return false;
    }
  }

  /** After a write that met another state. A Lease that somebody deleted is made again by the next try. */
  async #look(call: CallOptions): Promise<void> {
    const { namespace, name } = this.#options;
    try {
      const found = await this.#client.find(Leases, { namespace, name }, call);
      if (found === undefined) this.#lease = undefined;
      else this.#see(found);
    } catch (error) {
      this.#logger.warn({ reason: (error as Error).message }, 'cannot read the lease');
    }
  }

  #see(lease: Lease): boolean {
    if (lease.metadata.resourceVersion !== this.#lease?.metadata.resourceVersion) {
      this.#lease = lease;
      this.#changedAt = performance.now();
    }
    return true;
  }

  #expired(lease: Lease): boolean {
    const seconds = lease.spec?.leaseDurationSeconds ?? this.#options.leaseDurationMs / 1000;
    return performance.now() - this.#changedAt >= seconds * 1000;
  }

  #renewed(lease: Lease | undefined): Lease {
    const { namespace, name, identity, leaseDurationMs } = this.#options;
    const now = microTime();
    const ours = lease?.spec?.holderIdentity === identity;
    const transitions = lease?.spec?.leaseTransitions ?? 0;
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: lease?.metadata ?? { namespace, name },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
        acquireTime: (ours ? lease.spec?.acquireTime : undefined) ?? now,
        renewTime: now,
        leaseTransitions: lease === undefined || ours ? transitions : transitions + 1,
      },
    };
  }

  /** Leaves the lease without a holder, so that the next one need not wait for it to run out. */
  async #release(): Promise<void> {
    if (!this.isLeader || this.#lease === undefined) return;
    this.#lead(false);
    const { spec } = this.#lease;
    const released = {
      ...this.#lease,
      spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() },
    };
    try {
      await this.#client.replace(Leases, released, { timeoutMs: this.#options.retryMs, urgent: true });
      this.#logger.info({}, 'the lease is released');
    } catch (error) {
      this.#logger.warn({ reason: (error as Error).message }, 'cannot release the lease');
    }
  }

  #lead(leads: boolean): void {
    this.isLeader = leads;
    this.#metrics?.gauge(kubeMetrics.leader).set({ name: this.#options.name }, leads ? 1 : 0);
  }
}
