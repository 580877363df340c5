/** What a token says about itself. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, reasons, setCondition } from '../../../api/conditions.ts';
import { isMusterError } from '../../../api/errors.ts';
import type { ClusterRegistrationToken, ClusterRegistrationTokenStatus } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { formatTime } from '../../../api/time.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { HubContext } from './context.ts';

/** Writes why nothing is issued, once. */
export async function refuse(
  context: HubContext,
  token: ClusterRegistrationToken,
  reason: string,
  message: string,
  signal: AbortSignal,
): Promise<void> {
  const written = await context.tokenStatus.update(
    keyOf(token),
    (latest) => ({
      ...latest.status,
      conditions: conditionsWith(latest, { type: conditionTypes.issued, status: 'False', reason, message }),
    }),
    signal,
  );
  if (written !== undefined && written.before !== written.after)
    context.events.event(token, 'Warning', reason, message);
}

/** Faults that a user has to know of; the reconcile is tried again all the same. */
export async function explain(
  context: HubContext,
  token: ClusterRegistrationToken,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (isMusterError(error)) {
    const reason =
      error.code === 'ALREADY_OWNED'
        ? reasons.nameTaken
        : error.code === 'TIMEOUT'
          ? reasons.waitingForServiceAccountToken
          : reasons.error;
    await refuse(context, token, reason, error.describe(), signal);
  } else if (isForbidden(error)) {
    const namespace = token.metadata.namespace ?? '';
    const message = `the hub may not work in namespace ${namespace}; label it muster.dev/workspace=true to open it`;
    await refuse(context, token, reasons.error, message, signal);
  }
}

/** What a token says whose values are in the Secret of its name. Pure. */
export function issuedStatus(
  token: ClusterRegistrationToken,
  expiresMs: number | undefined,
): ClusterRegistrationTokenStatus {
  return {
    ...token.status,
    secretName: token.metadata.name ?? '',
    ...(expiresMs === undefined ? {} : { expires: formatTime(expiresMs) }),
    conditions: conditionsWith(token, { type: conditionTypes.issued, status: 'True', reason: reasons.done }),
  };
}

function conditionsWith(
  token: ClusterRegistrationToken,
  condition: Condition,
): NonNullable<ClusterRegistrationTokenStatus['conditions']> {
  const before = (token.status?.conditions ?? []) as Condition[];
  return setCondition(before, condition) as NonNullable<ClusterRegistrationTokenStatus['conditions']>;
}
