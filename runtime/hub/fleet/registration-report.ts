/** What a request says about itself. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, reasons, setCondition } from '../../../api/conditions.ts';
import type { Cluster, ClusterRegistration, ClusterRegistrationStatus } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Decision } from '../../registration/types.ts';
import type { HubContext } from './context.ts';

/** The last step of a grant. No Event: the conditions say all, and each write of a registration counts in a burst. */
export async function finish(
  context: HubContext,
  request: ClusterRegistration,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<void> {
  const clusterName = cluster.metadata.name ?? '';
  await context.requestStatus.update(keyOf(request), (current) => grantedStatus(current, clusterName), signal);
}

/** Pure. */
export function grantedStatus(request: ClusterRegistration, clusterName: string): ClusterRegistrationStatus {
  const conditions = conditionsWith(request, [
    { type: conditionTypes.accepted, status: 'True', reason: reasons.done },
    { type: conditionTypes.granted, status: 'True', reason: reasons.done },
  ]);
  return { ...request.status, clusterName, granted: true, conditions };
}

/** Writes why a request has nothing yet, once. */
export async function tell(
  context: HubContext,
  request: ClusterRegistration,
  decision: Extract<Decision, { reason: string }>,
  signal: AbortSignal,
): Promise<void> {
  const { outcome, reason, message } = decision;
  const changed = await context.requestStatus.update(
    keyOf(request),
    (current) => ({
      ...current.status,
      conditions: conditionsWith(current, [
        outcome === 'reject'
          ? { type: conditionTypes.accepted, status: 'False', reason, message }
          : { type: conditionTypes.accepted, status: 'True', reason: reasons.done },
        { type: conditionTypes.granted, status: 'False', reason, message },
      ]),
    }),
    signal,
  );
  if (changed !== undefined && changed.before !== changed.after) {
    context.events.event(request, 'Warning', reason, message);
  }
}

function conditionsWith(
  request: ClusterRegistration,
  conditions: readonly Condition[],
): NonNullable<ClusterRegistrationStatus['conditions']> {
  const before = (request.status?.conditions ?? []) as Condition[];
  return conditions.reduce((list, condition) => setCondition(list, condition), before) as NonNullable<
    ClusterRegistrationStatus['conditions']
  >;
}
