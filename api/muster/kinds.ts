/** muster's own kinds as the client addresses them; types only come from the schemas. */
import type { ResourceType } from '../resource.ts';
import { group, version } from './constants.ts';
import type { RegistrationRule } from './registration-rule.ts';

export type { RegistrationRule, RegistrationRuleSpec, RegistrationRuleStatus } from './registration-rule.ts';

export const RegistrationRules: ResourceType<RegistrationRule> = {
  group,
  version,
  kind: 'RegistrationRule',
  plural: 'registrationrules',
  namespaced: false,
};
