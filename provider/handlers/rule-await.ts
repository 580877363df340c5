/** Waiting until a hub has taken up a rule in its newest form. */
import { conditionTypes, findCondition, reasons } from '../../api/conditions.ts';
import { MusterError } from '../../api/errors.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import type { RegistrationRule } from '../../api/muster/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitObject } from '../await-object.ts';
import type { CallContext } from '../handler.ts';
import { describeCondition } from '../ready.ts';

/**
 * The clusters of a rule come and go at any time, so the wait is for the rule, not for them: how many are registered, and
 * how many cannot be, are outputs.
 * @throws MusterError TIMEOUT naming the stage that is stuck, such as a kind of sources that is not installed;
 *   INVALID_ARGUMENT at once for a rule that the hub cannot follow; NOT_FOUND when it is deleted meanwhile.
 */
export async function awaitObserved(
  client: KubeClient,
  applied: RegistrationRule,
  { signal, report }: Pick<CallContext, 'signal' | 'report'>,
): Promise<RegistrationRule> {
  const { name = '' } = applied.metadata;
  const where = `RegistrationRule ${name}`;
  let last: RegistrationRule | undefined = applied;
  report(`${where}: waiting for the hub`);
  try {
    const settled = (rule: RegistrationRule | undefined): boolean => rule === undefined || isTakenUp(rule);
    const onChange = (rule: RegistrationRule | undefined): void => void (last = rule);
    const rule = await awaitObject(client, RegistrationRules, { name }, settled, { signal, onChange });
    if (rule !== undefined && reasonOf(rule) === reasons.invalidSpec) {
      throw new MusterError('INVALID_ARGUMENT', whyNot(rule), { where });
    }
    if (rule !== undefined) return rule;
  } catch (error) {
    if (!signal.aborted) throw error;
    const reason = signal.reason as MusterError;
    const hint = reason.hint === undefined ? {} : { hint: reason.hint };
    throw new MusterError('TIMEOUT', `${reason.message}; stuck at: ${whyNot(last)}.`, { where, ...hint });
  }
  throw new MusterError('NOT_FOUND', 'the object is gone from the hub', { where });
}

/** Seen by the hub in the form that was applied, and at work: the kind of its sources is there. */
function isTakenUp(rule: RegistrationRule): boolean {
  const { metadata, status } = rule;
  if (status?.observedGeneration === undefined || status.observedGeneration < (metadata.generation ?? 0)) return false;
  return reasonOf(rule) !== reasons.sourceKindMissing;
}

function reasonOf({ status }: RegistrationRule): string | undefined {
  const ready = findCondition(status?.conditions, conditionTypes.ready);
  return ready?.status === 'True' ? undefined : ready?.reason;
}

function whyNot(rule: RegistrationRule | undefined): string {
  return describeCondition(findCondition(rule?.status?.conditions, conditionTypes.ready));
}
