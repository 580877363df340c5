/** Condition ClusterProfilePublished: only there while a Cluster cannot be published. */
import { conditionTypes, findCondition, reasons } from '../../../api/conditions.ts';
import { isApiError, isConflict, isForbidden } from '../../kube/api-error.ts';
import { clearCondition, writeCondition } from '../fleet/cluster-condition.ts';
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
  const written = await writeCondition(hub, key, condition, signal);
  if (written === undefined || findCondition(written.before.status?.conditions, type)?.reason === reason) return;
  hub.events.event(written.after, 'Warning', reason, error.message);
}

export async function clearProfileFault(hub: HubContext, key: string, signal: AbortSignal): Promise<void> {
  await clearCondition(hub, key, type, signal);
}

function reasonOf(error: Error): string {
  if (error instanceof ForeignProfile) return reasons.nameTaken;
  return isForbidden(error) ? reasons.rightsMissing : reasons.error;
}
