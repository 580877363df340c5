/** RegistrationRule: which sources of clusters are registered with the hub, and how. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { clusterSpec } from '../fleet/cluster.ts';
import { ageColumn, readyColumn, statusColumn } from '../fleet/printer-columns.ts';
import { conditions } from '../fleet/status.ts';
import { labelSelector } from '../kubernetes/label-selector.ts';
import { flag, goDuration, int, int32, int64, text, textMap } from '../schema.ts';
import { defaults, group, version } from './constants.ts';

const exactlyOne = {
  rule: '[has(self.clusterAPI), has(self.kubeconfigSecret), has(self.clusterProfile)].filter(given, given).size() == 1',
  message: 'give exactly one of clusterAPI, kubeconfigSecret and clusterProfile',
};

const source = z
  .object({
    clusterAPI: z
      .object({})
      .describe('Clusters of Cluster API (cluster.x-k8s.io), v1beta2 or v1beta1, with their Secret <name>-kubeconfig.')
      .optional(),
    kubeconfigSecret: z
      .object({
        key: z.string().min(1).max(253).default(defaults.kubeconfigKey).describe('Key of the kubeconfig.'),
      })
      .describe('Secrets that hold a kubeconfig; the rule needs a selector for them.')
      .optional(),
    clusterProfile: z
      .object({
        accessProvider: text(
          'Which of status.accessProviders is used; the first whose credential is in a Secret when not given.',
        ).optional(),
      })
      .describe('ClusterProfiles of other cluster managers (multicluster.x-k8s.io) whose credential is in a Secret.')
      .optional(),
  })
  .refine((value) => Object.values(value).filter((given) => given !== undefined).length === 1, exactlyOne.message)
  .meta({ description: 'What is registered.', 'x-kubernetes-validations': [exactlyOne] });

const passed = (what: string) =>
  z
    .object({
      pass: z
        .array(z.string().min(1).max(317))
        .max(64)
        .describe(`Keys of ${what} of the source that its registration gets, too; * stands for any text.`)
        .optional(),
      set: textMap(
        `Further ${what}; {name}, {namespace} and {class} in values stand for the source and its ClusterClass.`,
      ).optional(),
    })
    .describe(`Which ${what} a registration has.`);

const fleet = clusterSpec.shape;

const agent = z
  .object({
    namespace: fleet.agentNamespace,
    envVars: fleet.agentEnvVars,
    tolerations: fleet.agentTolerations,
    affinity: fleet.agentAffinity,
    resources: fleet.agentResources,
    schedulingCustomization: fleet.agentSchedulingCustomization,
    imagePullSecrets: fleet.agentPullSecrets,
    hostNetwork: fleet.hostNetwork,
    privateRepoURL: fleet.privateRepoURL,
  })
  .describe('How the agent is installed.');

/** Text with placeholders; anything else in braces is refused when the rule is written. */
const NAME = /^([a-z0-9-]|\{(name|namespace|class)\})+$/;

const registration = z
  .object({
    protocol: z.enum(['fleet']).default(defaults.protocol).describe('Protocol of registration.'),
    mode: z
      .enum(['Manager', 'Agent'])
      .default(defaults.mode)
      .describe('Manager: the hub installs the agent with the kubeconfig. Agent: it registers itself with a token.'),
    workspace: z
      .string()
      .min(1)
      .max(63)
      .describe('Namespace of the registrations; that of the source when not given.')
      .optional(),
    name: z
      .string()
      .min(1)
      .max(253)
      .regex(NAME, 'may hold a-z, 0-9, - and the placeholders {name}, {namespace}, {class}')
      .default(defaults.name)
      .describe('Name of the registration, with placeholders {name}, {namespace} and {class} of the source.'),
    labels: passed('labels').optional(),
    annotations: passed('annotations').optional(),
    agent: agent.optional(),
    token: z
      .object({
        ttl: goDuration('How long a token may be used; a new one is made while the agent has not registered.').default(
          defaults.tokenTTL,
        ),
      })
      .describe('Token of the agent, in mode Agent: for one use, in the Secret that the registration names.')
      .optional(),
    groups: z
      .object({
        by: z
          .enum(['Class', 'Topology', 'None'])
          .default('None')
          .describe('Class: a group per ClusterClass. Topology: per ClusterClass and Kubernetes version. None: none.'),
      })
      .describe('Groups that are made for the registrations and removed with the last of them.')
      .optional(),
  })
  .describe('How sources are registered.');

const onSourceDeleted = z
  .object({
    action: z
      .enum(['Detach', 'Keep'])
      .default(defaults.onSourceDeleted.action)
      .describe('Detach: remove agent and registration. Keep: leave the registration to its users.'),
    delay: goDuration(
      'How long a registration stays after its source went. The source is let go at once then, not held until detached.',
    ).default(defaults.onSourceDeleted.delay),
    timeout: goDuration(
      'How long a source that is being deleted is held at most until its cluster is detached.',
    ).default(defaults.onSourceDeleted.timeout),
  })
  .describe('What happens when a source is deleted, or is no longer selected by any rule.');

const secretsBySelector = {
  rule:
    '!has(self.source.kubeconfigSecret) || (has(self.selector) && ' +
    '(has(self.selector.matchLabels) && self.selector.matchLabels.size() > 0 || ' +
    'has(self.selector.matchExpressions) && self.selector.matchExpressions.size() > 0))',
  message: 'kubeconfigSecret needs a selector: not every Secret of a namespace is a kubeconfig',
};

export const registrationRuleSpec = z
  .object({
    source,
    namespaceSelector: labelSelector(
      'Namespaces of sources, by label; all that are opened to the hub when not given.',
    ).optional(),
    selector: labelSelector('Sources, by label; all of them when not given.').optional(),
    suspend: flag('Nothing is registered or changed by the rule; sources that are deleted are detached.').optional(),
    priority: int32('When rules select the same source: the highest wins, then the oldest, then by name.').optional(),
    registration: registration.optional(),
    onSourceDeleted: onSourceDeleted.optional(),
  })
  .refine(
    ({ source: { kubeconfigSecret }, selector }) =>
      kubeconfigSecret === undefined ||
      Object.keys(selector?.matchLabels ?? {}).length > 0 ||
      (selector?.matchExpressions ?? []).length > 0,
    secretsBySelector.message,
  )
  .meta({ description: 'Which sources are registered, and how.', 'x-kubernetes-validations': [secretsBySelector] });

export const registrationRuleStatus = z
  .object({
    matched: int('Sources that the rule registers.').optional(),
    registered: int('Sources whose cluster is registered.').optional(),
    failed: int('Sources that cannot be registered as they are; the conditions and events on them say why.').optional(),
    observedGeneration: int64('Generation of the rule that this was computed from.').optional(),
    conditions: conditions.optional(),
  })
  .describe('What became of the rule.');

export const registrationRuleDescriptor = defineResource({
  group,
  version,
  kind: 'RegistrationRule',
  plural: 'registrationrules',
  namespaced: false,
  description: 'Registers clusters with the hub as their sources come and go.',
  shortNames: ['rr'],
  categories: ['muster'],
  schema: z.object({ spec: registrationRuleSpec, status: registrationRuleStatus.optional() }),
  printerColumns: [
    { name: 'Matched', type: 'integer', jsonPath: '.status.matched', description: 'Sources of the rule.' },
    { name: 'Registered', type: 'integer', jsonPath: '.status.registered', description: 'Of those, registered.' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.failed', description: 'Of those, with a fault.' },
    readyColumn,
    { ...statusColumn, priority: 1 },
    ageColumn,
  ],
});

export type RegistrationRule = ObjectOf<typeof registrationRuleDescriptor.schema>;
export type RegistrationRuleSpec = z.input<typeof registrationRuleSpec>;
export type RegistrationRuleStatus = z.input<typeof registrationRuleStatus>;
