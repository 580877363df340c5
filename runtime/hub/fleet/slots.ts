/**
 * How many reconciles work at a time, not counting those that wait for a server outside. A downstream cluster that hangs
 * costs a socket then and delays nobody; only what has an answer competes for the hub's processor and its API server.
 */

/** Runs `wait` without a slot; the slot is taken again before its result is given. Not for two waits side by side. */
export type Outside = <T>(wait: () => Promise<T>) => Promise<T>;

export interface Slots {
  /** Runs `work` in a slot, when there is one. Rejects with the signal's reason while it waits for one. */
  run<T>(work: (outside: Outside) => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();

  const give = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  };

  const take = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const granted = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        waiting.delete(granted);
        reject(signal.reason as Error);
      };
      waiting.add(granted);
      signal.addEventListener('abort', stop, { once: true });
    });
  };

  return {
    async run(work, signal) {
      await take(signal);
      let held = true;
      const outside: Outside = async (wait) => {
        held = false;
        give();
        try {
          return await wait();
        } finally {
          await take(signal);
          held = true;
        }
      };
      try {
        return await work(outside);
      } finally {
        if (held) give();
      }
    },
  };
}
