/** What a ServiceAccount token says about itself, read without checking its signature: for timing and names only. */

/** Claims of a ServiceAccount token. Times are seconds since 1970, by the clock of the API server that issued it. */
export interface TokenClaims {
  /** `system:serviceaccount:<namespace>:<name>`. */
  readonly subject?: string;
  /** UID of the ServiceAccount: tells accounts of one name apart. */
  readonly accountUid?: string;
  readonly issuedAt?: number;
  /** Absent on tokens of ServiceAccount Secrets: those never expire. */
  readonly expiresAt?: number;
}

/** The claims of `token`; none when it is no JSON web token (a hub may hand out any opaque text). */
export function readClaims(token: string): TokenClaims {
  const payload = token.split('.')[1];
  if (payload === undefined) return {};
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null) return {};
    const { sub, iat, exp, 'kubernetes.io': own } = claims as Record<string, unknown>;
    const uid = (own as { serviceaccount?: { uid?: unknown } } | null | undefined)?.serviceaccount?.uid;
    return {
      ...(typeof sub === 'string' ? { subject: sub } : {}),
      ...(typeof uid === 'string' ? { accountUid: uid } : {}),
      ...(typeof iat === 'number' ? { issuedAt: iat } : {}),
      ...(typeof exp === 'number' ? { expiresAt: exp } : {}),
    };
  } catch {
    return {};
  }
}

/** The ServiceAccount that a token belongs to; `undefined` when its subject names none. */
export function serviceAccountOf(claims: TokenClaims): { namespace: string; name: string } | undefined {
  const [system, kind, namespace, name, ...more] = (claims.subject ?? '').split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || !namespace || !name || more.length > 0) return undefined;
  return { namespace, name };
}

/** The key that signed `token`; the same for all tokens of one API server, unless it changed its key meanwhile. */
export function signerOf(token: string): string | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8'));
    const { kid } = (header ?? {}) as { kid?: unknown };
    return typeof kid === 'string' && kid !== '' ? kid : undefined;
  } catch {
    return undefined;
  }
}
