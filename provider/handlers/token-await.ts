/** Waiting until a hub has issued the values of a token. */
import { conditionTypes, findCondition } from '../../api/conditions.ts';
import { parseGoDuration } from '../../api/duration.ts';
import { MusterError } from '../../api/errors.ts';
import { ClusterRegistrationTokens } from '../../api/fleet/kinds.ts';
import type { ClusterRegistrationToken } from '../../api/fleet/kinds.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitObject } from '../await-object.ts';
import type { CallContext } from '../handler.ts';
import { describeCondition } from '../ready.ts';

/** Waits for the Secret's name, and for the expiry that belongs to the wanted ttl. */
export async function awaitIssued(
  client: KubeClient,
  applied: ClusterRegistrationToken,
  context: Pick<CallContext, 'signal'>,
): Promise<ClusterRegistrationToken> {
  const key = { namespace: applied.metadata.namespace ?? '', name: applied.metadata.name ?? '' };
  const where = `ClusterRegistrationToken ${keyOf(key)}`;
  let last: ClusterRegistrationToken | undefined = applied;
  const settled = (token: ClusterRegistrationToken | undefined): boolean =>
    token === undefined || (Boolean(token.status?.secretName) && !isRefused(token) && hasWantedExpiry(token));
  try {
    const token = await awaitObject(client, ClusterRegistrationTokens, key, settled, {
      signal: context.signal,
      onChange: (object) => (last = object),
    });
    if (token !== undefined) return token;
    throw new MusterError('TOKEN_EXPIRED', 'the hub has deleted the token before it was used', {
      where,
      hint: 'Give a longer ttl; a hub may also be configured to refuse tokens that never expire.',
    });
  } catch (error) {
    if (!context.signal.aborted) throw error;
    throw new MusterError('TIMEOUT', `no values were issued; stuck at: ${whyNotIssued(last)}.`, { where });
  }
}

/** An earlier ttl's expiry stands in the status until the hub has seen the new one. */
function hasWantedExpiry({ metadata, spec, status }: ClusterRegistrationToken): boolean {
  const ttl = spec?.ttl ? parseGoDuration(spec.ttl) : 0;
  if (ttl === 0) return !status?.expires;
  const expires = Date.parse(metadata.creationTimestamp ?? '') + ttl;
  // Times in objects have whole seconds.
  return Math.abs(Date.parse(status?.expires ?? '') - expires) < 2000;
}

function isRefused(token: ClusterRegistrationToken): boolean {
  return findCondition(token.status?.conditions, conditionTypes.issued)?.status === 'False';
}

function whyNotIssued(token: ClusterRegistrationToken | undefined): string {
  return describeCondition(findCondition(token?.status?.conditions, conditionTypes.issued));
}
