/** Condition ClusterProfilePublished: only there while a Cluster cannot be published. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, findCondition, reasons, removeCondition, setCondition } from '../../../api/conditions.ts';
import type { Cluster, ClusterStatus } from '../../../api/fleet/kinds.ts';
import { isApiError, isConflict, isForbidden } from '../../kube/api-error.ts';
import type { HubContext } from '../fleet/context.ts';
import { ForeignProfile } from './profile-write.ts';

const type = conditionTypes.profilePublished;

/** Tells what is wrong, with an Event when that is new. Conflicts are no news: the next try sees the new state. */
export async function reportProfileFault(
  hub: HubContext,
  key: string,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof Error) || isConflict(error)) return;
  if (!(error instanceof ForeignProfile) && !isApiError(error)) return;
  const reason = reasonOf(error);
  const condition = { type, status: 'False', reason, message: error.message };
  const written = await hub.clusterStatus.update(
    key,
    (latest) => withConditions(latest, setCondition(conditionsOf(latest), condition)),
    signal,
  );
  if (written === undefined || findCondition(conditionsOf(written.before), type)?.reason === reason) return;
  hub.events.event(written.after, 'Warning', reason, error.message);
}

export async function clearProfileFault(hub: HubContext, key: string, signal: AbortSignal): Promise<void> {
  const cluster = hub.clusters.get(key);
  if (cluster === undefined || findCondition(conditionsOf(cluster), type) === undefined) return;
  await hub.clusterStatus.update(
    key,
    (latest) => withConditions(latest, removeCondition(conditionsOf(latest), type)),
    signal,
  );
}

function reasonOf(error: Error): string {
  if (error instanceof ForeignProfile) return reasons.nameTaken;
  return isForbidden(error) ? reasons.rightsMissing : reasons.error;
}

function conditionsOf(cluster: Cluster): Condition[] {
  return (cluster.status?.conditions ?? []) as Condition[];
}

function withConditions(cluster: Cluster, conditions: Condition[]): ClusterStatus {
  return { ...cluster.status, conditions: conditions as NonNullable<ClusterStatus['conditions']> };
}
