/** What a rule says of itself, from the counts. Pure. */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, reasons, removeCondition, setCondition } from '../../../api/conditions.ts';
import type { RegistrationRule, RegistrationRuleStatus } from '../../../api/muster/kinds.ts';
import type { RuleTally, Tally } from './tally.ts';

export interface RuleView {
  /** What is wrong with its spec. */
  readonly problem?: string;
  /** The kind of its sources is not installed. */
  readonly missingKind?: string;
  readonly tally: RuleTally;
  /** Of a source that failed. */
  readonly messageOf: (source: string) => string | undefined;
}

/** Sources that are named in a message at most. */
const named = 3;

export function viewOf(tally: Tally, rule: string): Pick<RuleView, 'tally' | 'messageOf'> {
  return { tally: tally.of(rule), messageOf: (source) => tally.get(source)?.progress.fault?.message };
}

export function ruleStatus(rule: RegistrationRule, view: RuleView, now: Date): RegistrationRuleStatus {
  const { stages } = view.tally;
  const count = (stage: Parameters<typeof stages.get>[0]): number => stages.get(stage)?.size ?? 0;
  const matched = [...stages.values()].reduce((sum, { size }) => sum + size, 0);
  const [registered, failed] = [count('registered'), count('failed')];
  const generation = rule.metadata.generation ?? 0;
  const before = (rule.status?.conditions ?? []) as Condition[];
  const ready = { ...readyCondition(rule, view, { matched, registered, failed }), observedGeneration: generation };
  const overlap = overlapCondition(view.tally);
  const type = conditionTypes.overlapping;
  const conditions = setCondition(
    overlap === undefined
      ? removeCondition(before, type)
      : setCondition(before, { ...overlap, observedGeneration: generation }, now),
    ready,
    now,
  ) as NonNullable<RegistrationRuleStatus['conditions']>;
  return { ...rule.status, matched, registered, failed, observedGeneration: generation, conditions };
}

interface Counts {
  readonly matched: number;
  readonly registered: number;
  readonly failed: number;
}

function readyCondition(rule: RegistrationRule, view: RuleView, counts: Counts): Condition {
  const type = conditionTypes.ready;
  const { matched, registered, failed } = counts;
  const not = (reason: string, message: string): Condition => ({ type, status: 'False', reason, message });
  if (view.problem !== undefined) return not(reasons.invalidSpec, view.problem);
  if (view.missingKind !== undefined) {
    const message = `${view.missingKind} is not installed; the rule begins by itself when it is`;
    return not(reasons.sourceKindMissing, message);
  }
  if (rule.spec.suspend === true) return not(reasons.suspended, `suspended; ${registered} of ${matched} registered`);
  if (failed > 0) return not(...worst(view, counts));
  if (registered < matched) {
    const waiting = matched - registered;
    return not(reasons.pending, `${registered} of ${matched} registered; ${waiting} on the way or not ready yet`);
  }
  const message = matched === 0 ? 'no source is selected' : `${registered} of ${matched} registered`;
  return { type, status: 'True', reason: reasons.done, message };
}

/** The reason of most failures, and whom it concerns. */
function worst({ tally, messageOf }: RuleView, { matched, registered, failed }: Counts): [string, string] {
  const [reason, sources] = [...tally.faults].sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))[0] ?? [
    reasons.error,
    new Set<string>(),
  ];
  const list = nameSome(sources);
  const why = messageOf([...sources].sort()[0] ?? '') ?? '';
  const others = failed - sources.size;
  const more = others === 0 ? '' : `; ${others} failed for other reasons`;
  return [reason, `${registered} of ${matched} registered; ${sources.size} failed (${list}): ${why}${more}`];
}

function nameSome(sources: ReadonlySet<string>): string {
  const sorted = [...sources].sort();
  const rest = sorted.length - named;
  return sorted.slice(0, named).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Only there while another rule selects the same sources. */
function overlapCondition({ over, under }: RuleTally): Condition | undefined {
  if (over.size + under.size === 0) return undefined;
  const tell = (map: ReadonlyMap<string, ReadonlySet<string>>, verb: string): string[] =>
    [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([rule, { size }]) => `${verb} rule ${rule} for ${size}`);
  const message =
    `other rules select the same sources: ${[...tell(over, 'this goes before'), ...tell(under, 'this gives way to')].join(', ')}; ` +
    'the highest priority wins, then the oldest rule';
  return { type: conditionTypes.overlapping, status: 'True', reason: reasons.rulesOverlap, message };
}
