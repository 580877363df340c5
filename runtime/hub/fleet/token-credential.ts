/** The bearer token of a ClusterRegistrationToken: the one that it has, as long as its account is the same; else a new one. */
import { isMusterError } from '../../../api/errors.ts';
import { secretKeys } from '../../../api/fleet/constants.ts';
import { parseValues } from '../../../api/fleet/bootstrap-values.ts';
import type { ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrationTokens } from '../../../api/fleet/kinds.ts';
import { serviceAccountTokenName } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { ownerReference } from '../../kube/owner.ts';
import { durablePlan, requestToken, secretToken, untilPlan } from '../../registration/credential.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import type { HubContext } from './context.ts';
import { managedLabels } from './context.ts';
import { tokenOfAnnotation } from './token-objects.ts';

/** Agents in the field hold the old token, so a change of address keeps it. */
export async function tokenFor(
  context: HubContext,
  token: ClusterRegistrationToken,
  issued: { account: ServiceAccountKey; accountUid: string; expiresMs: number | undefined },
  existing: Secret | undefined,
  signal: AbortSignal,
): Promise<string> {
  const kept =
    existing?.metadata.annotations?.[tokenOfAnnotation] === issued.accountUid ? bearerIn(existing) : undefined;
  if (kept !== undefined) return kept;
  const nowMs = Date.now();
  const plan = issued.expiresMs === undefined ? durablePlan : untilPlan(issued.expiresMs, nowMs);
  const bound = await requestToken(context.client, issued.account, plan, nowMs, signal);
  if (bound !== undefined) return bound.token;
  const lasting = await secretToken(context.client, issued.account, {
    name: serviceAccountTokenName(issued.account.name),
    labels: { ...managedLabels },
    ownerReferences: [ownerReference(ClusterRegistrationTokens, token)],
    signal,
  });
  return lasting.token;
}

function bearerIn(secret: Secret | undefined): string | undefined {
  const encoded = secret?.data?.[secretKeys.values];
  if (!encoded) return undefined;
  try {
    return parseValues(Buffer.from(encoded, 'base64').toString('utf8')).token || undefined;
  } catch (error) {
    if (isMusterError(error)) return undefined; // someone edited it: it is written anew
    throw error;
  }
}
