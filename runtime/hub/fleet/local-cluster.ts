/** Cluster `local`: the hub's own cluster, reached with the hub's own rights (decision 7: no credential leads back). */
import { defaults } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { localBootstrap } from '../../../components/fleet/local-agent.ts';
import type { HubContext } from './context.ts';

/** Whether a Cluster is declared to be the hub's own. It may have a kubeconfig all the same (one that Fleet made). */
export function isLocal(context: Pick<HubContext, 'config'>, { metadata }: Cluster): boolean {
  const namespace = localBootstrap(context.config.current)?.namespace ?? defaults.localNamespace;
  return metadata.name === defaults.localCluster && metadata.namespace === namespace;
}

/** Whether the hub installs the agent of a Cluster with its own rights. */
export function isOwn(context: Pick<HubContext, 'config'>, cluster: Cluster): boolean {
  if (cluster.spec?.kubeConfigSecret || !isLocal(context, cluster)) return false;
  // what was installed is removed with its Cluster, also when the configuration does not ask for it any more
  return localBootstrap(context.config.current) !== undefined || cluster.status?.agentDeployedGeneration != null;
}

/** Whether the hub installs the agent of a Cluster. */
export function isImported(context: Pick<HubContext, 'config'>, cluster: Cluster): boolean {
  return Boolean(cluster.spec?.kubeConfigSecret) || isOwn(context, cluster);
}

/** Whether the configuration says that the hub's own cluster has no agent. */
export function isDisabled(context: Pick<HubContext, 'config'>, cluster: Cluster): boolean {
  return isLocal(context, cluster) && localBootstrap(context.config.current)?.agentDisabled === true;
}
