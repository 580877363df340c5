/** An agent that moves to another namespace of its cluster: the old one stays until the new one has reported. */
import { annotations, labels, managedByMuster, secretNames } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { synthAgent } from '../../../components/fleet/fleet-agent.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
import { agentNamespaceOf } from './edge-agent.ts';
import { removeAgent } from './edge-apply.ts';

/** Namespaces that an agent of this Cluster is leaving, or may have been left in. */
export function leftNamespaces(cluster: Cluster): string[] {
  const noted = (cluster.metadata.annotations?.[annotations.agentNamespaces] ?? '').split(' ');
  const reported = cluster.status?.agentDeployedGeneration == null ? '' : (cluster.status.agent?.namespace ?? '');
  const all = new Set([...noted, reported].filter((name) => name !== ''));
  all.delete(agentNamespaceOf(cluster));
  return [...all].sort();
}

/** Whether the agent that reports is the one in the namespace that it should be in. */
export function hasArrived(cluster: Cluster): boolean {
  return cluster.status?.agent?.namespace === agentNamespaceOf(cluster) && Boolean(cluster.status.agent.lastSeen);
}

/** Writes down where agents may be, before there is one more. */
export async function noteMove(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const all = [...leftNamespaces(cluster), agentNamespaceOf(cluster)].sort().join(' ');
  if (cluster.metadata.annotations?.[annotations.agentNamespaces] !== all)
    await annotate(context, cluster, all, signal);
}

/**
 * The credential that the agent has in its old namespace, for the new one: it stays registered. `undefined` when there
 * is none to be found; then it has to register.
 */
export async function carriedCredential(
  cluster: Cluster,
  client: KubeClient,
  signal: AbortSignal,
): Promise<Secret | undefined> {
  const { name } = { name: secretNames.agent };
  const namespace = agentNamespaceOf(cluster);
  for (const from of [namespace, ...leftNamespaces(cluster)]) {
    const found = await client.find(Secrets, { namespace: from, name }, { signal });
    if (found?.data === undefined) continue;
    const metadata = { namespace, name, labels: { [labels.managedBy]: managedByMuster } };
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: found.data,
      ...(found.type ? { type: found.type } : {}),
    };
  }
  return undefined;
}

/** Takes the old agents away. `keep`: a namespace that is not the agent's alone. */
export async function finishMove(
  context: HubContext,
  cluster: Cluster,
  client: KubeClient,
  options: { keep: string | undefined; own: boolean },
  signal: AbortSignal,
): Promise<void> {
  for (const namespace of leftNamespaces(cluster)) {
    if (namespace === options.keep) continue;
    const manifests = synthAgent({ namespace, image: 'none' });
    await removeAgent(client, manifests, { own: options.own, keepShared: true }, signal);
    context.events.event(cluster, 'Normal', 'AgentMoved', `the agent in namespace ${namespace} was removed`);
  }
  await annotate(context, cluster, null, signal);
}

async function annotate(
  context: HubContext,
  cluster: Cluster,
  value: string | null,
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { uid: cluster.metadata.uid, annotations: { [annotations.agentNamespaces]: value } } };
  const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
  context.clusters.remember(await context.client.patch(Clusters, parseKey(keyOf(cluster)), patch, options));
}
