/** Unregistering: the hub detaches the agent and cleans up under its finalizer; this waits for it, with a bound. */
import { conditionTypes, findCondition } from '../../api/conditions.ts';
import { MusterError } from '../../api/errors.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { Namespaces } from '../../api/kubernetes/core.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { isOurs } from '../fleet-object.ts';
import type { CallContext } from '../handler.ts';
import { awaitGone } from '../await-gone.ts';
import type { ClusterOutputs } from './cluster.ts';

export async function deleteCluster(client: KubeClient, olds: ClusterOutputs, context: CallContext): Promise<void> {
  const { signal } = context;
  const found = await client.find(Clusters, olds.metadata, { signal });
  const namespace = found?.status?.namespace ?? olds.namespace;
  if (found !== undefined && isOurs(found, olds.uid, olds.owner)) {
    const { uid } = found.metadata;
    await client.delete(Clusters, olds.metadata, { signal, ...(uid === undefined ? {} : { preconditions: { uid } }) });
    await awaitGone(client, Clusters, olds.metadata, uid, context, { details: detachMessage });
  } else if (found !== undefined) {
    throw new MusterError('ALREADY_OWNED', 'the Cluster of this name is not the one that this stack made', {
      where: `Cluster ${keyOf(olds.metadata)}`,
      hint: 'Remove the resource from the state with: pulumi state delete.',
    });
  }
  if (namespace === '') return;
  await awaitGone(client, Namespaces, { name: namespace }, undefined, context);
}

function detachMessage(cluster: Cluster): string | undefined {
  return findCondition(cluster.status?.conditions, conditionTypes.detached)?.message;
}
