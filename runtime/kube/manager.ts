/** Head only; the body follows. */
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { MusterError } from '../../api/errors.ts';
import type { Cache, CacheOptions } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Controller } from './controller.ts';
import type { EventRecorder } from './events.ts';
import type { LeaderElectionOptions } from './leader-election.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Options of {@link createManager}. */
export interface ManagerOptions {
  readonly client: KubeClient;
  /** `reportingController` of its events. Default: `muster`. */
  readonly component?: string;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** Controllers and leader runnables wait for this lease. Default: none, they start at once. */
  readonly leaderElection?: LeaderElectionOptions;
  /** `:8081` (all interfaces), `127.0.0.1:8081`; `0` or absent disables. Serves /healthz, /livez and /readyz. */
  readonly probeAddress?: string;
  /** As `probeAddress`, for /metrics. */
  readonly metricsAddress?: string;
}

/** Anything else that lives as long as the manager. */
export interface Runnable {
  readonly name: string;
  /** Start only while leading. Default: true. */
  readonly needsLeader?: boolean;
  /** Runs until the signal aborts. A rejection ends the manager. */
  run(signal: AbortSignal): Promise<void>;
}

/** Throws (or rejects) when the process is not well; the message is shown to whoever asks. */
export type HealthCheck = () => void | Promise<void>;

export interface Manager {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly events: EventRecorder;
  readonly isLeader: boolean;
  /** The shared cache of a kind: the same for the same namespace, selectors and transform. Starts with the manager. */
  cache<T extends KubeObject>(type: ResourceType<T>, options?: Omit<CacheOptions<T>, 'logger' | 'metrics'>): Cache<T>;
  add(controller: Controller): void;
  addRunnable(runnable: Runnable): void;
  /** /healthz answers 500 while a check throws. */
  addHealthCheck(name: string, check: HealthCheck): void;
  /** /readyz answers 500 while a check throws; synced caches are always checked. */
  addReadyCheck(name: string, check: HealthCheck): void;
  /**
   * Runs everything until the signal aborts (resolves) or a part fails or the lease is lost (rejects; exit non-zero).
   * In both cases: stop sources, let running reconciles end, release the lease, write the last events, close the ports.
   */
  run(signal: AbortSignal): Promise<void>;
}

export function createManager(_options: ManagerOptions): Manager {
  throw new MusterError('INTERNAL', 'createManager is being written');
}
