/** Tokens that the hub makes for one Cluster, whose they are: they go with it. */
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { apiVersion } from '../../../api/fleet/constants.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { ownerReference } from '../../kube/owner.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';

/** What such a token is to be. */
export interface ClusterTokenPlan {
  readonly name: string;
  /** A Go duration. */
  readonly ttl: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The token of that name in the Cluster's namespace: the one that is there, whoever made it, or a new one. */
export async function ensureClusterToken(
  { client, tokens }: Pick<HubContext, 'client' | 'tokens'>,
  cluster: Cluster,
  { name, ttl, annotations }: ClusterTokenPlan,
  signal: AbortSignal,
): Promise<ClusterRegistrationToken> {
  const { namespace = '' } = cluster.metadata;
  const known = tokens.get(`${namespace}/${name}`);
  if (known !== undefined) return known;
  const ownerReferences = [ownerReference(Clusters, cluster)];
  const metadata = { name, namespace, ownerReferences, ...(annotations === undefined ? {} : { annotations }) };
  const wanted = { apiVersion, kind: 'ClusterRegistrationToken', metadata, spec: { ttl } };
  try {
    const made = await client.create(ClusterRegistrationTokens, wanted, { signal, fieldManager: hubFieldManager });
    tokens.remember(made);
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.get(ClusterRegistrationTokens, { namespace, name }, { signal });
  }
}
