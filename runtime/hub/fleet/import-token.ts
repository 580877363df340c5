/** The token of an import: made for one Cluster, short-lived, renewed while no agent has used it. */
import { durations } from '../../../api/durations.ts';
import { defaults, secretKeys } from '../../../api/fleet/constants.ts';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { parseValues } from '../../../api/fleet/bootstrap-values.ts';
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { importTokenName } from '../../../api/fleet/names.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { reasons } from '../../../api/conditions.ts';
import { keyOf } from '../../../api/resource.ts';
import { isOwnedBy } from '../../kube/owner.ts';
import { ensureClusterToken } from './cluster-token.ts';
import type { HubContext } from './context.ts';
import { ImportFault } from './edge-kubeconfig.ts';

/** Ends soon: no agent should be started with it any more. */
export function endsSoon(token: ClusterRegistrationToken, nowMs: number): boolean {
  const expires = token.status?.expires;
  return expires !== undefined && Date.parse(expires) - durations.importTokenMargin <= nowMs;
}

/** Time until the token has to be renewed; `undefined` while it is not issued. */
export function renewIn(token: ClusterRegistrationToken, nowMs: number): number | undefined {
  const expires = token.status?.expires;
  return expires === undefined ? undefined : Math.max(0, Date.parse(expires) - durations.importTokenMargin - nowMs);
}

/** The Cluster's token: the one it has, or a new one. Throws ImportFault when the name is taken. */
export async function ensureImportToken(
  context: HubContext,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<ClusterRegistrationToken> {
  const name = importTokenName(cluster.metadata.name ?? '');
  const token = await ensureClusterToken(context, cluster, { name, ttl: defaults.importTokenTtl }, signal);
  if (isOwnedBy(token, cluster)) return token;
  const message = `ClusterRegistrationToken ${keyOf(token)} exists and is not this Cluster's; delete or rename it`;
  throw new ImportFault(reasons.nameTaken, message, false);
}

/** Values of an issued token; `undefined` while they are being made (an event tells). */
export async function importValues(
  context: HubContext,
  token: ClusterRegistrationToken,
  signal: AbortSignal,
): Promise<BootstrapValues | undefined> {
  const { secretName } = token.status ?? {};
  if (!secretName || token.metadata.deletionTimestamp !== undefined) return undefined;
  const key = { namespace: token.metadata.namespace ?? '', name: secretName };
  const encoded = (await context.client.find(Secrets, key, { signal }))?.data?.[secretKeys.values];
  return encoded ? parseValues(Buffer.from(encoded, 'base64').toString('utf8')) : undefined;
}
