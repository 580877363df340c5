/** Conditions of a Cluster that are written one by one; those that belong together are computed in cluster-status.ts. */
import type { Condition } from '../../../api/conditions.ts';
import { findCondition, removeCondition, setCondition } from '../../../api/conditions.ts';
import type { Cluster, ClusterStatus } from '../../../api/fleet/kinds.ts';
import type { HubContext } from './context.ts';

type Written = ReturnType<HubContext['clusterStatus']['update']>;

/** The status with these conditions. */
export function withConditions({ status }: Cluster, conditions: Condition[]): ClusterStatus {
  return { ...status, conditions: conditions as NonNullable<ClusterStatus['conditions']> };
}

/** Writes one condition if it says something new; resolves with the Cluster before and after, the same when it does not. */
export function writeCondition(
  { clusterStatus }: Pick<HubContext, 'clusterStatus'>,
  key: string,
  condition: Condition,
  signal: AbortSignal,
): Written {
  return clusterStatus.update(
    key,
    (latest) => withConditions(latest, setCondition(latest.status?.conditions, condition)),
    signal,
  );
}

/** Takes a condition away; nothing is written when there is none. */
export async function clearCondition(
  { clusters, clusterStatus }: Pick<HubContext, 'clusters' | 'clusterStatus'>,
  key: string,
  type: string,
  signal: AbortSignal,
): Promise<void> {
  if (findCondition(clusters.get(key)?.status?.conditions, type) === undefined) return;
  await clusterStatus.update(
    key,
    (latest) => withConditions(latest, removeCondition(latest.status?.conditions, type)),
    signal,
  );
}
