/** muster's own kinds with their schemas. Loads zod. */
import { registrationRuleDescriptor } from './registration-rule.ts';

export * from './constants.ts';
export { RegistrationRules } from './kinds.ts';
export * from './kubeconfig-reference.ts';
export * from './registration-rule.ts';

/** All kinds of muster.dev. */
export const musterDescriptors = [registrationRuleDescriptor] as const;
