/** How a command says why it failed. Small, because the dispatcher carries it beside every command. */
import { isMusterError } from '../api/errors.ts';
import { redactTokens } from '../runtime/kube/redact.ts';

/** One line for a terminal or a pod's log, without credentials: `[CODE] where: message. Hint`. */
export function describeFailure(error: unknown): string {
  if (isMusterError(error)) return redactTokens(error.describe());
  const message = error instanceof Error ? error.message : String(error);
  return redactTokens(`[${codeOf(error)}] ${message.replaceAll(/\s*\n\s*/g, ' ')}`);
}

function codeOf(error: unknown): string {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 401) return 'UNAUTHORIZED';
  return status === 403 ? 'FORBIDDEN' : 'INTERNAL';
}
