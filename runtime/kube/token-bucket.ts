/** A client-side rate limit: `burst` requests at once, then `qps` per second, first come, first served. */
import { pause } from './backoff.ts';

export interface TokenBucket {
  /** Resolves when the caller may go on; rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<void>;
}

/** `now` is in milliseconds and must not jump back. */
export function createTokenBucket(
  qps: number,
  burst: number,
  now: () => number = () => performance.now(),
): TokenBucket {
  const gap = 1000 / qps;
  /** When the bucket would be full; each take moves it one gap further. */
  let fullAt = now();
  return {
    async take(signal) {
      const start = now();
      fullAt = Math.max(fullAt, start) + gap;
      const wait = fullAt - burst * gap - start;
      if (wait > 0) await pause(wait, signal);
    },
  };
}
