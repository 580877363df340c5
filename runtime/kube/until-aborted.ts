/** Waiting for the end of what a signal stands for. */

/** Resolves when the signal aborts, at once when it has. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
