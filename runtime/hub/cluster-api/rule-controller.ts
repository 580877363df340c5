/** Status of rules: counts and conditions, one write for many changes. */
import { durations } from '../../../api/durations.ts';
import type { RegistrationRule } from '../../../api/muster/kinds.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import type { StatusWriter } from '../fleet/status-writer.ts';
import type { RuleContext } from './rule-context.ts';
import { ruleStatus, viewOf } from './rule-status.ts';
import { kindOf, ruleProblem } from './selection.ts';
import type { WarmUp } from './warm-up.ts';

export function createRuleController(
  context: Pick<RuleContext, 'rules' | 'sources' | 'tally' | 'optional'>,
  status: StatusWriter<RegistrationRule>,
  warmUp: WarmUp,
): Controller {
  const { rules, sources, tally, optional } = context;
  const controller = createController({
    name: 'rule',
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    async reconcile(name, { signal }) {
      if (!warmUp.warm) return;
      await status.update(name, (rule) => statusOf(rule), signal);
    },
  });
  const statusOf = (rule: RegistrationRule) => {
    const problem = ruleProblem(rule);
    const missingKind = sources.missing(kindOf(rule));
    return ruleStatus(
      rule,
      {
        ...viewOf(tally, rule.metadata.name ?? ''),
        ...(problem === undefined ? {} : { problem }),
        ...(missingKind === undefined ? {} : { missingKind }),
      },
      new Date(),
    );
  };
  // a little later than the change, so that its sources have been looked at
  rules.subscribe(({ type, object, previous }) => {
    if (type === 'deleted' || previous?.metadata.generation === object.metadata.generation) return;
    controller.enqueue(object.metadata.name ?? '', { afterMs: durations.ruleStatus });
  });
  for (const kind of optional) {
    kind.onInstalled(() => {
      for (const { metadata } of rules.list())
        controller.enqueue(metadata.name ?? '', { afterMs: durations.ruleStatus });
    });
  }
  return controller;
}
