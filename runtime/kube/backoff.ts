/** Growing pauses. */

/** Shape of a back-off, in milliseconds. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Share of the pause that is drawn at random, 0 to 1. Default: 0. */
  readonly jitter?: number;
}

/** Pause before attempt `failures + 1`: `base · 2^(failures-1)`, at most `max`, minus a random share of `jitter`. */
export function backoffMs(failures: number, options: BackoffOptions, random: () => number = Math.random): number {
  if (failures <= 0) return 0;
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures - 1, 40));
  return full * (1 - (options.jitter ?? 0) * random());
}

/**
 * Waits, or rejects with the signal's reason as soon as it aborts.
 */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
