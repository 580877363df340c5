/** The namespace of one cluster on the hub: what it should run, its agent's account and rights. */
import type { Namespace } from '../../../api/kubernetes/core.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import { durations } from '../../../api/durations.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { clusterNamespace } from '../../../api/fleet/names.ts';
import { MusterError } from '../../../api/errors.ts';
import { isDnsLabel } from '../../../api/kubernetes/names.ts';
import { keyOf } from '../../../api/resource.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { clusterOf } from './caches.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager, managedLabels } from './context.ts';

/** Name of a Cluster's namespace: the one in its status, else the one that is computed from its own name. */
export function namespaceOf(cluster: Cluster): string {
  const { namespace = '', name = '' } = cluster.metadata;
  return cluster.status?.namespace || clusterNamespace(namespace, name);
}

/**
 * Makes the namespace of a Cluster unless it is there: no request then. Throws INVALID_ARGUMENT when the Cluster's name
 * (it may have dots) makes no name of a namespace, ALREADY_OWNED when the name is taken by a
 * namespace of someone else, CONFLICT (retryable) while an earlier one of the same Cluster is being deleted.
 */
export async function ensureClusterNamespace(
  context: HubContext,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Namespace> {
  const { namespace: clusterNamespaceOnHub = '', name: clusterName = '' } = cluster.metadata;
  const name = namespaceOf(cluster);
  if (!isDnsLabel(name)) {
    throw new MusterError(
      'INVALID_ARGUMENT',
      `its namespace would be called ${name}, which Kubernetes does not allow`,
      {
        where: `Cluster ${keyOf(cluster)}`,
        hint: 'Give the Cluster a name of lower-case letters, digits and dashes.',
      },
    );
  }
  const known = context.namespaces.get(name) ?? (await context.newNamespaces.do(name, create));
  if (known.metadata.deletionTimestamp !== undefined) {
    throw new MusterError('CONFLICT', 'the namespace of an earlier cluster of this name is still being deleted', {
      where: `Namespace ${name}`,
      retryable: true,
    });
  }
  if (clusterOf(known) !== keyOf(cluster)) {
    throw new MusterError('ALREADY_OWNED', 'the cluster namespace exists and belongs to something else', {
      where: `Namespace ${name}`,
      hint: 'Delete that namespace, or give the Cluster another name.',
    });
  }
  return known;

  async function create(): Promise<Namespace> {
    const wanted: Namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        labels: { ...managedLabels },
        annotations: {
          [annotations.clusterNamespace]: clusterNamespaceOnHub,
          [annotations.cluster]: clusterName,
        },
      },
    };
    try {
      const made = await context.client.create(Namespaces, wanted, { signal, fieldManager: hubFieldManager });
      context.namespaces.remember(made);
      // API servers that do not know a namespace yet hold up for 50 ms what is put into it, and look it up each time
      await context.namespaces.caughtUp(name, durations.namespaceSeen);
      return made;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return await context.client.get(Namespaces, { name }, { signal });
    }
  }
}
