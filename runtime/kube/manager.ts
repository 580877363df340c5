/**
 * Everything that one process runs, started and stopped in order: ports, caches, leader election, controllers. Stopping:
 * no new keys are taken, the running reconciles end, the lease goes, the watches end, the last events are written, the
 * ports close. The watches outlive the reconciles so that those do not decide on an old state.
 */
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import type { Cache, CacheOptions } from './cache.ts';
import { createCache } from './cache.ts';
import type { KubeClient } from './client.ts';
import type { Controller } from './controller.ts';
import type { EventRecorder } from './events.ts';
import { createEventRecorder } from './events.ts';
import type { Endpoint, HealthCheck, Routes } from './health.ts';
import { answerChecks, answerMetrics, serve } from './health.ts';
import type { LeaderElectionOptions, LeaderElector } from './leader-election.ts';
import { createLeaderElector } from './leader-election.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { untilAborted } from './until-aborted.ts';

export type { HealthCheck } from './health.ts';

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
  /** As `probeAddress`, for /metrics; both may be the same. */
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

export interface Manager {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly events: EventRecorder;
  /** Whether controllers may run: leading, or no election at all. */
  readonly isLeader: boolean;
  /** Where the ports listen once `run` has opened them. */
  readonly addresses: { readonly probe?: string; readonly metrics?: string };
  /** The shared cache of a kind: the same for the same namespace, selectors and transform. Starts with the manager. */
  cache<T extends KubeObject>(type: ResourceType<T>, options?: Omit<CacheOptions<T>, 'logger' | 'metrics'>): Cache<T>;
  add(controller: Controller): void;
  addRunnable(runnable: Runnable): void;
  /** /healthz and /livez answer 500 while a check throws. */
  addHealthCheck(name: string, check: HealthCheck): void;
  /** /readyz answers 500 while a check throws; synced caches are always checked. */
  addReadyCheck(name: string, check: HealthCheck): void;
  /**
   * Runs everything until the signal aborts (resolves), or until a part fails or the lease is lost (rejects; exit
   * non-zero). Both ways everything is stopped in order first. The client stays open. Call once.
   */
  run(signal: AbortSignal): Promise<void>;
}

export function createManager(options: ManagerOptions): Manager {
  return new ProcessManager(options);
}

class ProcessManager implements Manager {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
  readonly events: EventRecorder;
  addresses: { probe?: string; metrics?: string } = {};
  #options: ManagerOptions;
  #elector: LeaderElector | undefined;
  #caches = new Map<string, { cache: Cache; transform: unknown }[]>();
  #controllers: Controller[] = [];
  #runnables: Runnable[] = [];
  #healthChecks = new Map<string, HealthCheck>([['ping', () => undefined]]);
  #readyChecks = new Map<string, HealthCheck>([['caches', () => this.#cachesSynced()]]);
  /** Starts a cache that is asked for while the manager runs. */
  #startCache: ((cache: Cache) => void) | undefined;

  constructor(options: ManagerOptions) {
    const { client, logger = silentLogger, metrics, component = 'muster', leaderElection } = options;
    this.#options = options;
    this.client = client;
    this.logger = logger;
    this.metrics = metrics;
    const instance = leaderElection === undefined ? {} : { instance: leaderElection.identity };
    this.events = createEventRecorder(client, { component, logger, ...instance });
    const environment = { logger, ...(metrics === undefined ? {} : { metrics }) };
    this.#elector = leaderElection === undefined ? undefined : createLeaderElector(client, leaderElection, environment);
  }

  get isLeader(): boolean {
    return this.#elector?.isLeader ?? true;
  }

  cache<T extends KubeObject>(type: ResourceType<T>, options: CacheOptions<T> = {}): Cache<T> {
    const { namespace, labelSelector, fieldSelector, transform } = options;
    const key = JSON.stringify([apiVersionOf(type), type.plural, namespace, labelSelector, fieldSelector]);
    const known = this.#caches.get(key) ?? [];
    const shared = known.find((entry) => entry.transform === transform);
    if (shared !== undefined) {
      const cache = shared.cache as unknown as Cache<T>;
      cache.addIndexers(options.indexers ?? {});
      return cache;
    }
    const metrics = this.metrics === undefined ? {} : { metrics: this.metrics };
    const cache = createCache(this.client, type, { ...options, logger: this.logger, ...metrics });
    const entry = { cache: cache as unknown as Cache, transform };
    this.#caches.set(key, [...known, entry]);
    this.#startCache?.(entry.cache);
    return cache;
  }

  add(controller: Controller): void {
    this.#refuseLate(controller.name);
    this.#controllers.push(controller);
  }

  addRunnable(runnable: Runnable): void {
    this.#refuseLate(runnable.name);
    this.#runnables.push(runnable);
  }

  addHealthCheck(name: string, check: HealthCheck): void {
    this.#healthChecks.set(name, check);
  }

  addReadyCheck(name: string, check: HealthCheck): void {
    this.#readyChecks.set(name, check);
  }

  async run(signal: AbortSignal): Promise<void> {
    const endpoints = await this.#open();
    // Two signals: work stops first, and the caches that it reads stop after it has ended.
    const work = new AbortController();
    const sources = new AbortController();
    const stop = (): void => work.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const watches: Promise<void>[] = [];
    this.#startCache = (cache) => void watches.push(cache.start(sources.signal));
    for (const { cache } of [...this.#caches.values()].flat()) this.#startCache(cache);
    try {
      await this.#work(work);
    } finally {
      signal.removeEventListener('abort', stop);
      sources.abort(new Error('the process is stopping'));
      await Promise.all(watches);
      await this.events.flush(AbortSignal.timeout(durations.shutdownFlush));
      await Promise.all(endpoints.map((endpoint) => endpoint.close()));
    }
  }

  /** Runs what leads and what need not, until all have ended. The first failure ends the others and is thrown. */
  async #work(work: AbortController): Promise<void> {
    const { signal } = work;
    const [leading, always] = partition(this.#runnables, ({ needsLeader = true }) => needsLeader);
    const metrics = this.metrics === undefined ? {} : { metrics: this.metrics };
    const environment = { logger: this.logger, ...metrics };
    const failures: unknown[] = [];
    const guarded = async (name: string, run: Promise<void>): Promise<void> => {
      try {
        await run;
      } catch (error) {
        if (signal.aborted && error === signal.reason) return;
        failures.push(error);
        this.logger.error({ part: name, error }, 'a part of the process failed');
        work.abort(error);
      }
    };
    const lead = async (leadSignal: AbortSignal): Promise<void> => {
      await Promise.all([
        ...this.#controllers.map((controller) => guarded(controller.name, controller.run(leadSignal, environment))),
        ...leading.map((runnable) => guarded(runnable.name, runnable.run(leadSignal))),
        untilAborted(leadSignal),
      ]);
    };
    await Promise.all([
      guarded('leader election', this.#elector?.run(signal, lead) ?? lead(signal)),
      ...always.map((runnable) => guarded(runnable.name, runnable.run(signal))),
    ]);
    if (failures.length > 0) throw failures[0];
  }

  async #open(): Promise<Endpoint[]> {
    const { probeAddress = '0', metricsAddress = '0' } = this.#options;
    const probes: Routes = {
      '/healthz': () => answerChecks(this.#healthChecks),
      '/livez': () => answerChecks(this.#healthChecks),
      '/readyz': () => answerChecks(this.#readyChecks),
    };
    const { metrics } = this;
    const scrape: Routes = metrics === undefined ? {} : { '/metrics': () => answerMetrics(metrics) };
    // Port 0 is another free port each time it is asked for.
    const shared = probeAddress === metricsAddress && !probeAddress.endsWith(':0');
    const probe = await serve(probeAddress, shared ? { ...probes, ...scrape } : probes);
    const other = shared
      ? probe
      : await serve(metricsAddress, scrape).catch(async (error: unknown) => {
          await probe?.close();
          throw error;
        });
    this.addresses = {
      ...(probe === undefined ? {} : { probe: probe.address }),
      ...(other === undefined ? {} : { metrics: other.address }),
    };
    return [...new Set([probe, other])].filter((endpoint) => endpoint !== undefined);
  }

  #cachesSynced(): void {
    const waiting = [...this.#caches.values()].flat().filter(({ cache }) => !cache.synced);
    if (waiting.length === 0) return;
    throw new Error(`not synced: ${waiting.map(({ cache }) => cache.type.plural).join(', ')}`);
  }

  #refuseLate(name: string): void {
    if (this.#startCache === undefined) return;
    throw new MusterError('INTERNAL', 'was added while the manager runs', { where: name });
  }
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
