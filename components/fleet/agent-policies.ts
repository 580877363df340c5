/** Admission policies on registered agents, whose accounts live in cluster namespaces on the hub. */
import { durations } from '../../api/durations.ts';
import { group as fleet, labels, version } from '../../api/fleet/constants.ts';
import { policyNames } from './names.ts';
import { cel } from './policy.ts';
import type { Policy } from './policy.ts';

/**
 * What agents may change in a Cluster's status: their own report. Agents of Fleet up to 0.12 send a whole, zeroed
 * status as a merge patch; it resets these counters, which the hub computes anew, and nothing that the hub relies on.
 */
export const agentStatusFields = [
  'agent',
  'summary',
  'resourceCounts',
  'readyGitRepos',
  'desiredReadyGitRepos',
  'readyHelmOps',
  'desiredReadyHelmOps',
  'display',
] as const;

const isAgent = {
  name: 'is-an-agent',
  expression: 'request.userInfo.username.startsWith("system:serviceaccount:cluster-")',
};

export const agentPolicies: readonly Policy[] = [
  {
    name: policyNames.agentStatus,
    rules: [{ apiGroups: [fleet], apiVersions: [version], operations: ['UPDATE'], resources: ['clusters/status'] }],
    matchConditions: [isAgent],
    variables: [
      { name: 'before', expression: 'dyn(oldObject).?status.orValue({})' },
      { name: 'after', expression: 'dyn(object).?status.orValue({})' },
      { name: 'own', expression: `[${agentStatusFields.map(cel).join(', ')}]` },
    ],
    validations: [
      {
        expression: 'variables.before.?namespace.orValue("") == request.userInfo.username.split(":")[2]',
        message: 'an agent may report only on the Cluster whose cluster namespace it belongs to',
      },
      {
        expression:
          'variables.after.all(field, field in variables.own || ' +
          '(field in variables.before && variables.after[field] == variables.before[field])) && ' +
          'variables.before.all(field, field in variables.own || field in variables.after)',
        message: 'an agent may change status.agent only',
      },
    ],
  },
  {
    name: policyNames.agentTokens,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts/token'] }],
    // Agents may ask in their cluster namespaces only; other programs in namespaces named cluster-… are left alone.
    namespaceLabels: { [labels.managed]: 'true' },
    matchConditions: [isAgent],
    validations: [
      {
        expression: 'request.userInfo.username == "system:serviceaccount:" + request.namespace + ":" + request.name',
        message: 'an agent may issue tokens for its own account only',
      },
      {
        expression: `object.spec.?expirationSeconds.orValue(3600) <= ${durations.rotatingCredential / 1000}`,
        message: 'an agent may not issue itself a token that lives longer than the one it was given',
      },
    ],
  },
];
