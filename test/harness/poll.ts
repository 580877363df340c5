/** Waiting for programs that offer nothing to watch: look, pause a little longer each time, give up at a limit. */
import { setTimeout as pause } from 'node:timers/promises';
import { MusterError } from '../../api/errors.ts';
import { limits } from './limits.ts';

/** Options of {@link poll}. */
export interface PollOptions {
  /** What is waited for, for the error: "kube-apiserver to be ready". */
  readonly what: string;
  /** Milliseconds until it gives up. Default: {@link limits.start}. */
  readonly limitMs?: number;
  /** Ends the wait early with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Calls `look` until it returns something other than undefined. What `look` throws ends the wait: a look that may
 * fail for a while returns undefined instead.
 *
 * @throws MusterError TIMEOUT after the limit.
 */
export async function poll<T>(look: () => Promise<T | undefined> | T | undefined, options: PollOptions): Promise<T> {
  const end = Date.now() + (options.limitMs ?? limits.start);
  for (let wait: number = limits.pollMin; ; wait = Math.min(wait * 1.3, limits.pollMax)) {
    options.signal?.throwIfAborted();
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > end) {
      throw new MusterError('TIMEOUT', `waited ${options.limitMs ?? limits.start} ms for ${options.what}`);
    }
    await pause(wait, undefined, options.signal === undefined ? {} : { signal: options.signal });
  }
}
