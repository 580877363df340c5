/** Progress goes to standard error, so that standard output holds the result and nothing else. */
import process from 'node:process';

const start = performance.now();

/** One line of progress, with the time since the start. */
export function progress(message: string): void {
  process.stderr.write(`[${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s] ${message}\n`);
}
