/** What an import says in the Cluster's status. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, findCondition, reasons, setCondition } from '../../../api/conditions.ts';
import type { Cluster, ClusterStatus } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
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
  const status = installedStatus(cluster, context.config.current, address);
  // while the agent moves, the status says where it is, not where it should be
  const namespace = leftNamespaces(cluster).length === 0 ? agentNamespaceOf(cluster) : undefined;
  const message = appliedMessage(applied);
  await report(
    context,
    keyOf(cluster),
    { status: 'True', reason: reasons.done, message },
    { ...status, ...(namespace === undefined ? {} : { namespace }) },
    signal,
  );
}

/**
 * Condition Imported, with the fields that belong to it; an Event when it says something new. That the first try went well
 * is no Event: the condition says it, and each write of an import counts where hundreds come at once.
 */
export async function report(
  context: HubContext,
  key: string,
  condition: Omit<Condition, 'type'>,
  { namespace, ...status }: Partial<ClusterStatus>,
  signal: AbortSignal,
): Promise<void> {
  const type = conditionTypes.imported;
  const written = await context.clusterStatus.update(
    key,
    (latest) => {
      const before = (latest.status?.conditions ?? []) as Condition[];
      const conditions = setCondition(before, { type, ...condition }) as NonNullable<ClusterStatus['conditions']>;
      const agent = namespace === undefined ? {} : { agent: { ...latest.status?.agent, namespace } };
      return { ...latest.status, ...status, ...agent, conditions };
    },
    signal,
  );
  if (written === undefined || written.before === written.after) return;
  const was = findCondition(written.before.status?.conditions, type);
  if (was?.reason === condition.reason && was?.message === condition.message) return;
  if (was === undefined && condition.status === 'True') return;
  if (condition.status === 'True') context.events.event(written.after, 'Normal', 'Imported', condition.message ?? '');
  else if (condition.reason !== reasons.waitingForToken) {
    context.events.event(written.after, 'Warning', condition.reason ?? reasons.error, condition.message ?? '');
  }
}
