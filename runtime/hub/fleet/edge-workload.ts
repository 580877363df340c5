/** An agent that was installed and is not heard of: what its pods say, told on the hub, where its user looks first. */
import { conditionTypes, findCondition, isTrue } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { agentNames } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import { keyOf } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isAvailable, whyNotAvailable } from '../../kube/workload.ts';
import type { HubContext } from './context.ts';
import { agentNamespaceOf } from './edge-agent.ts';
import type { Target } from './import-target.ts';

/** What comes from a downstream cluster is as long as it likes. */
const longest = 400;

/** When to look why the agent of a Cluster is not heard of, in milliseconds from now; `undefined` when it is. */
export function lookIn(cluster: Cluster, nowMs: number): number | undefined {
  const conditions = cluster.status?.conditions;
  if (isTrue(conditions, conditionTypes.online)) return undefined;
  const imported = findCondition(conditions, conditionTypes.imported)?.lastTransitionTime;
  return Math.max(0, (imported === undefined ? nowMs : Date.parse(imported)) + durations.agentLookFirst - nowMs);
}

/** Looks, and has the Cluster tell. A cluster that does not answer has told its user already. */
export async function lookAtAgent(
  context: HubContext,
  { cluster, connect }: Target,
  signal: AbortSignal,
): Promise<void> {
  const key = keyOf(cluster);
  const trouble = await troubleOf(cluster, connect, signal).catch(() => undefined);
  if (context.troubles.get(key) === trouble) return;
  if (trouble === undefined) context.troubles.delete(key);
  else context.troubles.set(key, trouble);
  context.enqueueCluster(key);
}

async function troubleOf(
  cluster: Cluster,
  connect: () => Promise<KubeClient>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const client = await connect();
  const options = { signal, timeoutMs: durations.edgeRequest };
  const key = { namespace: agentNamespaceOf(cluster), name: agentNames.deployment };
  const found = await client.find(Deployments, key, options);
  if (found === undefined) return `the Deployment ${keyOf(key)} is not there`;
  if (isAvailable(found)) return undefined;
  const text = await whyNotAvailable(client, found, options);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
