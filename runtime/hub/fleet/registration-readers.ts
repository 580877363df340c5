/** Which accounts may read the answer to a request: those that can have sent it. */
import { labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { importTokenName, tokenServiceAccountName } from '../../../api/fleet/names.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import type { HubContext } from './context.ts';

/**
 * The account of the Cluster's import token while there is one; else of the token that the request names; else, for
 * agents that name none (Fleet up to 0.15), of every living token of the workspace, as any of them can have sent it.
 */
export function readersFor(
  context: Pick<HubContext, 'caches' | 'tokens'>,
  request: ClusterRegistration,
  cluster: Cluster,
): ServiceAccountKey[] {
  const namespace = request.metadata.namespace ?? '';
  const imported = context.tokens.get(`${namespace}/${importTokenName(cluster.metadata.name ?? '')}`);
  if (imported !== undefined) return [account(imported)];
  // of a cluster that the hub imports, only the agent that the hub installed may learn the answer
  if (cluster.spec?.kubeConfigSecret) return [];
  const named = request.metadata.labels?.[labels.registrationToken];
  if (named) {
    const token = context.tokens.get(`${namespace}/${named}`);
    return token === undefined ? [] : [account(token)];
  }
  return context.caches.tokens
    .list(namespace)
    .filter((token) => token.metadata.deletionTimestamp === undefined)
    .map(account);
}

function account(token: ClusterRegistrationToken): ServiceAccountKey {
  const { namespace = '', name = '', uid = '' } = token.metadata;
  return { namespace, name: tokenServiceAccountName({ name, uid }) };
}
