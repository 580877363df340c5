/**
 * The bundle by which a hub of Fleet keeps a cluster's agent as it installed it. Ours makes none; one that was left by a
 * hub before ours would undo every change of the agent, and outlive the Cluster.
 */
import { finalizers } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { BundleDeployments, Bundles } from '../../../api/fleet/kinds.ts';
import { agentBundleName } from '../../../api/fleet/names.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { isNotFound } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { removeFinalizer } from '../../kube/finalizers.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { deleteSame } from './delete-same.ts';

/** Fleet's agent never uninstalls itself for it: its own release is exempt. One request when there is none. */
export async function removeAgentBundle(
  { client }: Pick<HubContext, 'client'>,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name: clusterName = '' } = cluster.metadata;
  const name = agentBundleName(clusterName);
  const bundle = await client.find(Bundles, { namespace, name }, { signal });
  if (bundle === undefined || !isFor(bundle, clusterName)) return;
  await remove(client, Bundles, bundle, finalizers.bundle, signal);
  const delivered = await client.find(BundleDeployments, { namespace: namespaceOf(cluster), name }, { signal });
  if (delivered !== undefined) {
    await remove(client, BundleDeployments, delivered, finalizers.bundleDeployment, signal);
  }
}

/** A bundle of that name that a user made is for other clusters, too. */
function isFor({ spec }: { spec?: { targets?: readonly { clusterName?: string | null }[] } }, name: string): boolean {
  const targets = spec?.targets ?? [];
  return targets.length === 1 && targets[0]?.clusterName === name;
}

/** With the finalizer of a hub that is not there any more. */
async function remove<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await deleteSame(client, type, await removeFinalizer(client, type, object, finalizer, { signal }), signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
