/** The token of an import: made for one Cluster, short-lived, renewed while no agent has used it. */
import { durations } from '../../../api/durations.ts';
import { defaults, secretKeys } from '../../../api/fleet/constants.ts';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { parseValues } from '../../../api/fleet/bootstrap-values.ts';
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { importTokenName } from '../../../api/fleet/names.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { reasons } from '../../../api/conditions.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { isOwnedBy, ownerReference } from '../../kube/owner.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
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
  const { namespace = '', name: clusterName = '' } = cluster.metadata;
  const name = importTokenName(clusterName);
  const known = context.tokens.get(`${namespace}/${name}`) ?? (await create());
  if (!isOwnedBy(known, cluster)) {
    const message = `ClusterRegistrationToken ${namespace}/${name} exists and is not this Cluster's; delete or rename it`;
    throw new ImportFault(reasons.nameTaken, message, false);
  }
  return known;

  async function create(): Promise<ClusterRegistrationToken> {
    const wanted: ClusterRegistrationToken = {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'ClusterRegistrationToken',
      metadata: { name, namespace, ownerReferences: [ownerReference(Clusters, cluster)] },
      spec: { ttl: defaults.importTokenTtl },
    };
    try {
      const options = { signal, fieldManager: hubFieldManager };
      const made = await context.client.create(ClusterRegistrationTokens, wanted, options);
      context.tokens.remember(made);
      return made;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return await context.client.get(ClusterRegistrationTokens, { namespace, name }, { signal });
    }
  }
}

/** Removes a token that ends soon; its deletion is an event that makes the next one. */
export async function retire(context: HubContext, token: ClusterRegistrationToken, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '', uid } = token.metadata;
  await context.client.delete(
    ClusterRegistrationTokens,
    { namespace, name },
    {
      signal,
      ...(uid === undefined ? {} : { preconditions: { uid } }),
    },
  );
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
