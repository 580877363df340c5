/** What an import says in the Cluster's status. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, findCondition, reasons, setCondition } from '../../../api/conditions.ts';
import type { HubConfig } from '../../../api/fleet/hub-config.ts';
import type { Cluster, ClusterStatus } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { clusterStatus } from './cluster-status.ts';
import { isTold, knownNamespace, viewOf } from './cluster-view.ts';
import type { HubContext } from './context.ts';
import type { HubAddress } from './edge-agent.ts';
import { agentNamespaceOf, installedStatus } from './edge-agent.ts';
import { leftNamespaces } from './edge-move.ts';
import type { Applied } from './import-state.ts';
import { appliedMessage } from './import-state.ts';

/** The agent is there: Fleet's record of what it was installed with, and condition Imported. */
export async function reportApplied(
  context: HubContext,
  cluster: Cluster,
  applied: Applied,
  address: HubAddress,
  signal: AbortSignal,
): Promise<void> {
  const { condition, fields } = appliedReport(cluster, applied, context.config.current, address);
  await report(context, keyOf(cluster), condition, fields, signal);
}

/** What {@link reportApplied} says, for {@link importStatus}. Pure. */
export function appliedReport(
  cluster: Cluster,
  applied: Applied,
  config: HubConfig,
  address: HubAddress,
): { condition: Omit<Condition, 'type'>; fields: Partial<ClusterStatus> } {
  // while the agent moves, the status says where it is, not where it should be
  const namespace = leftNamespaces(cluster).length === 0 ? agentNamespaceOf(cluster) : undefined;
  return {
    condition: { status: 'True', reason: reasons.done, message: appliedMessage(applied) },
    fields: { ...installedStatus(cluster, config, address), ...(namespace === undefined ? {} : { namespace }) },
  };
}

/**
 * Condition Imported, with the fields that belong to it; an Event when it says something new. That the first try went well
 * is no Event: the condition says it, and each write of an import counts where hundreds come at once.
 */
export async function report(
  context: HubContext,
  key: string,
  condition: Omit<Condition, 'type'>,
  fields: Partial<ClusterStatus>,
  signal: AbortSignal,
): Promise<void> {
  const written = await context.clusterStatus.update(
    key,
    (latest) => importStatus(begun(context, latest), condition, fields),
    signal,
  );
  const type = conditionTypes.imported;
  if (written === undefined || written.before === written.after) return;
  const was = findCondition(written.before.status?.conditions, type);
  if (was?.reason === condition.reason && was?.message === condition.message) return;
  if (was === undefined && condition.status === 'True') return;
  if (condition.status === 'True') context.events.event(written.after, 'Normal', 'Imported', condition.message ?? '');
  else if (condition.reason !== reasons.waitingForToken) {
    context.events.event(written.after, 'Warning', condition.reason ?? reasons.error, condition.message ?? '');
  }
}

/** With its first status, if it has none yet (cluster-view.ts). */
function begun(context: HubContext, cluster: Cluster): Cluster {
  const namespace = isTold(cluster) ? undefined : knownNamespace(context, cluster);
  if (namespace === undefined) return cluster;
  const nowMs = Date.now();
  return { ...cluster, status: clusterStatus(cluster, viewOf(context, cluster, namespace, nowMs), new Date(nowMs)) };
}

/** The status with condition Imported and these fields; `namespace` is where the agent is. Pure. */
export function importStatus(
  { status }: Cluster,
  condition: Omit<Condition, 'type'>,
  { namespace, ...fields }: Partial<ClusterStatus>,
): ClusterStatus {
  const before = (status?.conditions ?? []) as Condition[];
  const conditions = setCondition(before, { type: conditionTypes.imported, ...condition });
  const agent = namespace === undefined ? {} : { agent: { ...status?.agent, namespace } };
  return { ...status, ...fields, ...agent, conditions: conditions as NonNullable<ClusterStatus['conditions']> };
}
