/** A wait that ends early when something happened: what the agent's one loop sleeps on. */
import { durations } from '../../../api/durations.ts';

/** One waiter, many who wake. A wake-up that comes while nobody waits is kept for the next wait. */
export class Wake {
  #pending = false;
  #wakeWaiter: (() => void) | undefined;

  /** Ends the current wait, or the next one at once. */
  wake(): void {
    this.#pending = true;
    this.#wakeWaiter?.();
  }

  /**
   * Waits up to `ms` milliseconds. Returns `woken` or `elapsed`; `aborted` as soon as `signal` is aborted.
   * Waits longer than `durations.agentLongestWait` end after that.
   */
  async wait(ms: number, signal: AbortSignal): Promise<'woken' | 'elapsed' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          this.#wakeWaiter = undefined;
          resolve();
        };
        const timer = setTimeout(end, Math.min(Math.max(ms, 0), durations.agentLongestWait));
        signal.addEventListener('abort', end, { once: true });
        this.#wakeWaiter = end;
      });
    }
    if (signal.aborted) return 'aborted';
    const woken = this.#pending;
    this.#pending = false;
    return woken ? 'woken' : 'elapsed';
  }
}
