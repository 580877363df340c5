/** Waiting for a program to be ready, which it can only become while it runs. */
import { isMusterError, MusterError } from '../../api/errors.ts';
import type { ManagedProcess } from './managed-process.ts';
import { poll } from './poll.ts';

/**
 * Polls until `look` sees what it wants.
 *
 * @throws MusterError INTERNAL as soon as the program ends, TIMEOUT after the limit; both quote the end of its log.
 */
export async function waitReady(
  program: ManagedProcess,
  look: () => Promise<true | undefined>,
  options: { readonly what: string; readonly limitMs: number },
): Promise<void> {
  const wait = new AbortController();
  const ready = poll(look, { ...options, signal: wait.signal });
  try {
    await Promise.race([ready, program.failure()]);
  } catch (error) {
    if (!isMusterError(error, 'TIMEOUT')) throw error;
    throw new MusterError('TIMEOUT', `${error.message}; its log ends with\n${program.logTail()}`, { cause: error });
  } finally {
    wait.abort();
    ready.catch(() => undefined); // its own end was reported above, or was brought about here
  }
}
