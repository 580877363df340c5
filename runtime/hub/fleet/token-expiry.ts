/** When a ClusterRegistrationToken ends. Pure. */
import { parseGoDuration } from '../../../api/duration.ts';
import { isMusterError } from '../../../api/errors.ts';
import type { ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';

export type TokenExpiry =
  | { readonly state: 'never' }
  | { readonly state: 'until'; readonly expiresMs: number }
  | { readonly state: 'invalid'; readonly message: string };

/** Creation plus ttl; an empty ttl or one of zero never ends (Fleet: ClusterRegistrationToken). */
export function tokenExpiry(token: ClusterRegistrationToken): TokenExpiry {
  const ttl = token.spec?.ttl;
  if (!ttl) return { state: 'never' };
  let ttlMs: number;
  try {
    ttlMs = parseGoDuration(ttl);
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return { state: 'invalid', message: `spec.ttl: ${error.message}; write it like 30m, 12h or 1h30m` };
  }
  if (ttlMs < 0) return { state: 'invalid', message: 'spec.ttl: must not be negative' };
  if (ttlMs === 0) return { state: 'never' };
  // whole seconds, as status.expires has
  const createdMs = Date.parse(token.metadata.creationTimestamp ?? '');
  return { state: 'until', expiresMs: Math.floor((createdMs + ttlMs) / 1000) * 1000 };
}
