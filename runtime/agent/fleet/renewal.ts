/** Renewal of the agent's token through TokenRequest on its own ServiceAccount, long before it expires. */
import { durations } from '../../../api/durations.ts';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import type { AgentCredential } from './credential.ts';
import { AgentError } from './failure.ts';
import { readClaims, serviceAccountOf } from '../../kube/token-claims.ts';

/** The API server refuses TokenRequests for less (Kubernetes: TokenRequest, expirationSeconds). */
const shortestTokenSeconds = 600;

/**
 * Milliseconds until `token` is due for renewal, when a third of its life is left; 0 when that has passed. `undefined`
 * for a token that does not expire, such as the one that a Fleet hub gives.
 */
export function renewalDelay(token: string, now: number = Date.now()): number | undefined {
  const { issuedAt, expiresAt } = readClaims(token);
  if (expiresAt === undefined) return undefined;
  const life = (expiresAt - (issuedAt ?? expiresAt)) * 1000;
  return Math.max(0, expiresAt * 1000 - life / 3 - now);
}

/**
 * Pause before a failed renewal is tried again: a quarter of what is left of the token, between a second and an hour.
 * So a short outage costs little, and the tries grow denser towards the end.
 */
export function renewalRetryDelay(token: string, now: number = Date.now()): number {
  const { expiresAt = 0 } = readClaims(token);
  return Math.min(
    Math.max((expiresAt * 1000 - now) / 4, durations.agentRetryFirst),
    durations.agentRenewalRetryLongest,
  );
}

/**
 * The same credential with a new token of the same length of life. Nothing is stored yet.
 * @throws AgentError RenewalFailed when the token names no ServiceAccount; ApiError and MusterError of the call.
 */
export async function renewCredential(
  hub: KubeClient,
  credential: AgentCredential,
  options: CallOptions = {},
): Promise<AgentCredential> {
  const claims = readClaims(credential.config.token ?? '');
  const account = serviceAccountOf(claims);
  if (account === undefined) {
    throw new AgentError(
      'RenewalFailed',
      'UNSUPPORTED',
      'the token of this cluster names no ServiceAccount to renew it for',
      {
        where: hub.server,
        hint: 'Register anew before it expires.',
      },
    );
  }
  const life = (claims.expiresAt ?? 0) - (claims.issuedAt ?? 0);
  const request = { expirationSeconds: Math.max(life, shortestTokenSeconds) };
  const { token } = await hub.createToken(account, request, options);
  return { ...credential, config: { ...credential.config, token } };
}
