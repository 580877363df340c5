/**
 * Reconciles keys until the actual state is the wanted one, with controller-runtime's rules: level-triggered (a key says
 * that something changed, never what), one reconcile per key at a time, failures come again with growing pauses, and no
 * failure of one key ever stops another.
 */
import type { KubeObject } from '../../api/resource.ts';
import type { BackoffOptions } from './backoff.ts';
import type { Cache, CacheEvent } from './cache.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { QueueController } from './queue-controller.ts';
import type { AddOptions } from './work-queue.ts';

/** What a reconcile asks for; nothing (`undefined`) means: until something changes. */
export interface Result {
  /** Reconcile again after this time even if nothing changes. */
  readonly requeueAfterMs?: number;
}

/** Handed to each reconcile. */
export interface ReconcileContext {
  /** Aborts when the reconcile timeout has passed or the process must end now. Pass it to every call. */
  readonly signal: AbortSignal;
  /**
   * Aborts as soon as the process is to end. For waits alone, which would hold that up: what has been begun may still be
   * finished under `signal`. A reconcile that rejects with its reason has not failed.
   */
  readonly stopping: AbortSignal;
  /** Carries the controller's name and the key. */
  readonly logger: Logger;
  /** 1 for the first try, one more for each failure since the last success. */
  readonly attempt: number;
}

/** A failure that trying again cannot cure: it is logged and counted, and the key waits for its next change. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
  }
}

/** Options of {@link createController}. */
export interface ControllerOptions {
  /** Lower-case with dashes; the label of its metrics and logs. */
  readonly name: string;
  /** Reads the state, computes the wanted one, applies the difference. Safe to run twice, late, or after a crash. */
  readonly reconcile: (key: string, context: ReconcileContext) => Promise<Result | void>;
  /** Keys worked on side by side; one key never twice at a time. Default: 1. */
  readonly concurrency?: number;
  /** Default: `durations.reconcileTimeout`. */
  readonly reconcileTimeoutMs?: number;
  /** Default: `durations.reconcileRetryFirst` to `reconcileRetryLast`. */
  readonly backoff?: BackoffOptions;
  /** All keys of the watched caches come again after this, at low priority. 0: never. Default: `durations.resync`. */
  readonly resyncMs?: number;
}

/** How a cache's events become keys. */
export interface WatchMapping<T extends KubeObject> {
  /** Keys to reconcile. For an update it is called for the old state as well. Default: the object's own key. */
  readonly map?: (event: CacheEvent<T>) => Iterable<string>;
  /** Events for which it is false are ignored. Default: none are. */
  readonly predicate?: (event: CacheEvent<T>) => boolean;
  /** Higher goes first. Default: 0, and `lowPriority` for events of the initial list. */
  readonly priority?: number;
}

/** What a controller logs to and counts in; the manager gives its own. */
export interface ControllerEnvironment {
  readonly logger?: Logger;
  readonly metrics?: Metrics;
}

export interface Controller {
  readonly name: string;
  /** Reconciles what changes in a cache. The cache must be started by someone (the manager starts its own). */
  watch<T extends KubeObject>(cache: Cache<T>, mapping?: WatchMapping<T>): Controller;
  enqueue(key: string, options?: AddOptions): void;
  /**
   * Waits until the watched caches are synced, then reconciles until the signal aborts; resolves when the running
   * reconciles have ended (they get `durations.shutdownGrace`, then their signal aborts). Call once.
   */
  run(signal: AbortSignal, environment?: ControllerEnvironment): Promise<void>;
}

/** A controller; nothing happens before `run`, but events are collected. */
export function createController(options: ControllerOptions): Controller {
  return new QueueController(options);
}
