/** `RegistrationRule`: which sources of clusters are registered as they come and go, and what became of them. */
import { z } from 'zod';
import { apiVersion } from '../../api/muster/constants.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import type { RegistrationRule } from '../../api/muster/kinds.ts';
import { registrationRuleSpec } from '../../api/muster/registration-rule.ts';
import { agentSettings } from '../agent-settings.ts';
import { declaredPart } from '../declared.ts';
import { wantedMetadata } from '../fleet-object.ts';
import { clusterMetadata, common } from '../inputs.ts';
import { simpleHandler } from '../simple-object.ts';
import { awaitObserved } from './rule-await.ts';

const spec = registrationRuleSpec.shape;
const fields = [
  'source',
  'namespaceSelector',
  'selector',
  'suspend',
  'priority',
  'registration',
  'onSourceDeleted',
] as const;

/** Label selectors are one value: what another hand adds to one changes what it means. */
const atomic = ['namespaceSelector', 'selector'] as const;

const ruleInputs = z
  .strictObject({
    ...common,
    metadata: clusterMetadata,
    ...spec,
    registration: spec.registration.unwrap().extend({ agent: agentSettings.optional() }).strict().optional(),
  })
  .superRefine(({ source, selector }, context) => {
    const labels = Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions ?? []).length;
    if (source.kubeconfigSecret === undefined || labels > 0) return;
    const message = 'is needed with source.kubeconfigSecret: not every Secret of a namespace is a kubeconfig';
    context.addIssue({ code: 'custom', path: ['selector'], message });
  });
export type RuleInputs = z.input<typeof ruleInputs>;

/** What the hub has made of the rule, as it was when it was last looked at. */
export interface RuleCounts {
  readonly matched: number;
  readonly registered: number;
  readonly failed: number;
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

export const registrationRule = simpleHandler<RuleInputs, RuleCounts, RegistrationRule>({
  kind: 'RegistrationRule',
  type: RegistrationRules,
  schema: ruleInputs,
  namespace: undefined,
  fields,
  answers: ['matched', 'registered', 'failed', 'conditions'],

  object(inputs) {
    return { apiVersion, kind: 'RegistrationRule', metadata: wantedMetadata(inputs), spec: wireSpec(inputs) };
  },

  observed(declared, found) {
    const live = declaredPart(wireSpec(declared), found.spec, atomic) as RegistrationRule['spec'];
    const { registration } = live;
    if (registration?.agent?.imagePullSecrets === undefined) return live as Partial<RuleInputs>;
    const imagePullSecrets = registration.agent.imagePullSecrets?.map(({ name }) => name ?? '');
    const agent = { ...registration.agent, imagePullSecrets };
    return { ...live, registration: { ...registration, agent } } as Partial<RuleInputs>;
  },

  answer(found) {
    const { matched = 0, registered = 0, failed = 0, conditions } = found?.status ?? {};
    return {
      matched,
      registered,
      failed,
      // Without their times, so that a heartbeat is no change of the outputs.
      conditions: (conditions ?? []).map(({ type, status, reason, message }) => ({
        type,
        status,
        reason: reason ?? '',
        message: message ?? '',
      })),
    };
  },

  settle: awaitObserved,
});

/** Only what is given: the rest stays the API server's, or somebody else's. */
function wireSpec(inputs: RuleInputs): RegistrationRule['spec'] {
  const { registration } = inputs;
  const { imagePullSecrets, ...agent } = registration?.agent ?? {};
  const wire = {
    ...registration,
    agent:
      registration?.agent === undefined
        ? undefined
        : { ...agent, imagePullSecrets: imagePullSecrets?.map((name) => ({ name })) },
  };
  const wanted = {
    ...Object.fromEntries(fields.map((name) => [name, inputs[name]])),
    registration: registration === undefined ? undefined : wire,
  };
  // What is undefined is not there on the wire.
  return JSON.parse(JSON.stringify(wanted)) as RegistrationRule['spec'];
}
