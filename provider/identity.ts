/** Which cluster a kubeconfig leads to. Texts change with every rotation; the UID of kube-system does not. */
import { durations } from '../api/durations.ts';
import type { CallContext } from './handler.ts';
import type { Connection } from './configuration.ts';
import { hasUnknown } from './unknowns.ts';

/**
 * Whether `next` leads to another cluster than the one with UID `before`. A cluster that does not answer in time, or may
 * not be asked, counts as the same: previews must work without it, and the update will tell.
 */
export async function isOtherCluster(
  before: string | undefined,
  next: Connection | undefined,
  context: CallContext,
): Promise<boolean> {
  if (!before || next === undefined || hasUnknown(next)) return false;
  const after = await uidOf(next, context);
  return after !== undefined && after !== before;
}

/** The UID behind a connection; undefined when it cannot be had now. */
export async function uidOf(connection: Connection, { clients, signal }: CallContext): Promise<string | undefined> {
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(durations.providerIdentity)]);
    return await clients.get(connection).uid({ signal: limited, timeoutMs: durations.providerIdentity });
  } catch {
    return undefined;
  }
}
