/** What the agent is doing, for those who look: /readyz, Events and logs say the same. */
import { durations } from '../../../api/durations.ts';
import type { Logger } from '../../kube/logger.ts';
import type { AgentError, FailureReason } from './failure.ts';

/** Where the agent is. `standby`: another process holds the lease. */
export type Stage = 'standby' | 'starting' | 'registering' | 'connected';

/** Writes one Event; see EventRecorder. */
export type Record = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

/** Options of {@link AgentStatus}. */
export interface AgentStatusOptions {
  readonly record: Record;
  readonly logger: Logger;
  /** Milliseconds on a clock that only goes forward. Default: `performance.now`. */
  readonly clock?: () => number;
}

/** The agent's state and the failure it is in, if any. Failures end with the next success. */
export class AgentStatus {
  readonly #record: Record;
  readonly #logger: Logger;
  readonly #clock: () => number;
  #stage: Stage = 'standby';
  #failure: AgentError | undefined;
  #told: { reason: FailureReason; message: string; at: number } | undefined;

  constructor(options: AgentStatusOptions) {
    this.#record = options.record;
    this.#logger = options.logger;
    this.#clock = options.clock ?? (() => performance.now());
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** What the agent fails at now. */
  get failure(): AgentError | undefined {
    return this.#failure;
  }

  /** A step began; no Event. */
  enter(stage: Stage, message: string): void {
    if (stage !== this.#stage) this.#logger.info({ stage }, message);
    this.#stage = stage;
  }

  /** Something went well: ends the failure. An Event is written when it is news to someone who was told of a failure. */
  succeeded(reason: string, message: string, event = false): void {
    const recovered = this.#failure !== undefined;
    this.#failure = undefined;
    this.#told = undefined;
    if (!event && !recovered) return;
    this.#logger.info({ reason }, message);
    this.#record('Normal', reason, message);
  }

  /** Something is wrong that does not stop the agent now: an Event, nothing else. */
  warned(failure: AgentError): void {
    this.#logger.warn({ reason: failure.reason, code: failure.code, stage: this.#stage }, failure.describe());
    this.#record('Warning', failure.reason, failure.describe());
  }

  /** Something failed and will be tried again in `retryMs`. A new failure, or one that lasts, becomes an Event. */
  failed(failure: AgentError, retryMs: number): void {
    this.#failure = failure;
    const retry = `${Math.round(retryMs)} ms`;
    this.#logger.warn({ reason: failure.reason, code: failure.code, stage: this.#stage, retry }, failure.describe());
    const now = this.#clock();
    const told = this.#told;
    const same = told !== undefined && told.reason === failure.reason && told.message === failure.message;
    if (same && now - told.at < durations.agentEventRepeat) return;
    this.#told = { reason: failure.reason, message: failure.message, at: now };
    this.#record('Warning', failure.reason, failure.describe());
  }

  /**
   * Whether the process does what it should now, in words. A standby is ready: a rolling update would otherwise wait
   * for a Pod that waits for the lease of the Pod it replaces.
   */
  readiness(): { readonly ready: boolean; readonly text: string } {
    if (this.#failure !== undefined)
      return { ready: false, text: `${this.#failure.reason}: ${this.#failure.describe()}` };
    if (this.#stage === 'standby') return { ready: true, text: 'waiting for the lease' };
    return { ready: this.#stage === 'connected', text: this.#stage };
  }
}
