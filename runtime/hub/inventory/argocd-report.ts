/** Condition ArgoCDPublished: how far a Cluster's publication is, and the record of it. Never a credential. */
import { conditionTypes, findCondition, reasons } from '../../../api/conditions.ts';
import { clearCondition, writeCondition } from '../fleet/cluster-condition.ts';
import type { HubContext } from '../fleet/context.ts';
import type { ArgoCDRecord } from './argocd-record.ts';
import { withRecord } from './argocd-record.ts';

const type = conditionTypes.argoCDPublished;

/** States that a user may have meant: a condition says so, an Event would only be noise. */
const quiet: readonly string[] = [reasons.pending, reasons.noKubeconfig, reasons.ownCluster];

/** Writes the condition, and an Event when its reason is new. */
export async function reportArgoCD(
  hub: Pick<HubContext, 'clusterStatus' | 'events'>,
  key: string,
  told: { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string },
  record: ArgoCDRecord | undefined,
  signal: AbortSignal,
): Promise<void> {
  const condition = { type, ...told, message: withRecord(told.message, record) };
  const written = await writeCondition(hub, key, condition, signal);
  if (written === undefined || written.before === written.after || quiet.includes(told.reason)) return;
  const was = findCondition(written.before.status?.conditions, type);
  if (was?.status === told.status && was.reason === told.reason) return;
  if (told.status === 'True') hub.events.event(written.after, 'Normal', type, told.message);
  else hub.events.event(written.after, 'Warning', told.reason, told.message);
}

/** Takes the condition away, and with it the record. */
export async function clearArgoCD(hub: HubContext, key: string, signal: AbortSignal): Promise<void> {
  await clearCondition(hub, key, type, signal);
}
