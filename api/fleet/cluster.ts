/** Cluster: a downstream cluster that is, or is to be, registered with the hub. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { affinity } from '../kubernetes/affinity.ts';
import { envVar, localReference, resourceRequirements, toleration } from '../kubernetes/container.ts';
import { flag, freeform, int, int64, text, time } from '../schema.ts';
import { group, version } from './constants.ts';
import { ageColumn, readyColumn, statusColumn } from './printer-columns.ts';
import { bundleSummary, conditions, resourceCounts } from './status.ts';

const schedulingCustomization = z
  .object({
    priorityClass: z
      .object({
        value: int('Priority of the pods of the agent.').optional(),
        preemptionPolicy: text('PreemptLowerPriority or Never.').optional(),
      })
      .describe('PriorityClass that is made for the agent.')
      .optional(),
    podDisruptionBudget: z
      .object({
        minAvailable: text('How many pods of the agent have to stay, as a number or percentage.').optional(),
        maxUnavailable: text('How many pods of the agent may be away, as a number or percentage.').optional(),
      })
      .describe('PodDisruptionBudget that is made for the agent; give one of the two fields.')
      .optional(),
  })
  .describe('Priority and disruption budget of the agent.');

export const clusterSpec = z
  .object({
    paused: flag(
      'Nothing new is rolled out to the cluster. Its registration, its heartbeats and the settings of its agent go on.',
    ).optional(),
    clientID: text(
      'Identity of the cluster: what its agent sends when it registers. Random when the hub imports the cluster.',
    ).nullish(),
    kubeConfigSecret: text(
      'Name of a Secret whose key "value" is a kubeconfig. When given, the hub installs the agent itself.',
    ).nullish(),
    kubeConfigSecretNamespace: text('Namespace of that Secret; that of the Cluster when not given.').nullish(),
    redeployAgentGeneration: int64('Change it to have the agent installed again.').optional(),
    agentNamespace: text('Namespace of the agent downstream; cattle-fleet-system when not given.').nullish(),
    agentEnvVars: z.array(envVar).describe('Environment variables of the agent.').nullish(),
    agentTolerations: z.array(toleration).describe('Tolerations of the agent, beside the built-in ones.').nullish(),
    agentAffinity: affinity('Affinity of the agent; replaces the built-in one.').nullish(),
    agentResources: resourceRequirements('Resources of the container of the agent.').nullish(),
    agentSchedulingCustomization: schedulingCustomization.nullish(),
    agentPullSecrets: z
      .array(localReference('A pull Secret.'))
      .describe('Pull Secrets of the agent that exist downstream; when not given, those of the hub are copied there.')
      .nullish(),
    hostNetwork: flag('The agent uses the network of its node.').nullish(),
    privateRepoURL: text('Registry, and path, that the image of the agent is pulled from.').nullish(),
    templateValues: freeform('Values for templates in bundles, as .ClusterValues.').nullish(),
  })
  .describe('What the cluster should be.');

export const clusterStatus = z
  .object({
    namespace: text('Namespace of the hub that holds what the cluster should run.').optional(),
    conditions: conditions.optional(),
    summary: bundleSummary('Bundles of the cluster by state.').optional(),
    resourceCounts: resourceCounts('Resources of the cluster by state.').optional(),
    readyGitRepos: int('GitRepos whose bundles are all ready on the cluster.').optional(),
    desiredReadyGitRepos: int('GitRepos that target the cluster.').optional(),
    readyHelmOps: int('HelmOps whose bundles are all ready on the cluster.').optional(),
    desiredReadyHelmOps: int('HelmOps that target the cluster.').optional(),
    agent: z
      .object({
        lastSeen: time('When the agent last reported.').nullish(),
        namespace: text('Namespace of the agent downstream.').nullish(),
        kubernetesVersion: text('Version of Kubernetes downstream; agents of muster tell it.').nullish(),
        nodes: int('Nodes downstream; agents of muster tell it.').nullish(),
      })
      .describe('What the agent reports.')
      .optional(),
    display: z
      .object({
        readyBundles: text('Ready and wanted bundles, as "3/4".').optional(),
        state: text('Worst state of all bundles, or WaitCheckIn.').nullish(),
      })
      .describe('For columns of kubectl.')
      .optional(),
    agentDeployedGeneration: int64('Value of redeployAgentGeneration that was last acted on.').nullish(),
    agentConfigChanged: flag('Settings of the agent changed and it has to be installed again.').optional(),
    agentMigrated: flag('The agent was installed by this generation of hubs.').optional(),
    agentNamespaceMigrated: flag('The agent was moved to agentNamespace.').optional(),
    cattleNamespaceMigrated: flag('The agent was moved to the namespace of this generation of hubs.').optional(),
    agentEnvVarsHash: text('Hash of the environment variables the agent was installed with.').nullish(),
    agentAffinityHash: text('Hash of the affinity the agent was installed with.').optional(),
    agentResourcesHash: text('Hash of the resources the agent was installed with.').nullish(),
    agentTolerationsHash: text('Hash of the tolerations the agent was installed with.').nullish(),
    agentSchedulingCustomizationHash: text('Hash of the scheduling the agent was installed with.').optional(),
    agentPrivateRepoURL: text('Registry that the agent was installed from.').nullish(),
    agentHostNetwork: flag('The agent was installed on the network of its node.').nullish(),
    agentTLSMode: text('TLS mode the agent was installed with.').nullish(),
    apiServerURL: text('Address of the hub that the agent was given.').nullish(),
    apiServerCAHash: text('Hash of the certificates of the hub that the agent was given.').nullish(),
    garbageCollectionInterval: text('Clean-up interval the agent was given.').optional(),
    scheduled: flag('A Schedule covers the cluster.').optional(),
    activeSchedule: flag('A Schedule that covers the cluster is active now.').optional(),
  })
  .describe('What the cluster is.');

export const clusterDescriptor = defineResource({
  group,
  version,
  kind: 'Cluster',
  plural: 'clusters',
  namespaced: true,
  description: 'A downstream cluster that is, or is to be, registered with the hub.',
  shortNames: ['fcl'],
  categories: ['fleet'],
  schema: z.object({ spec: clusterSpec.optional(), status: clusterStatus.optional() }),
  printerColumns: [
    readyColumn,
    {
      name: 'Bundles-Ready',
      type: 'string',
      jsonPath: '.status.display.readyBundles',
      description: 'Ready and wanted bundles.',
    },
    {
      name: 'Last-Seen',
      type: 'date',
      jsonPath: '.status.agent.lastSeen',
      description: 'How long ago the agent reported.',
    },
    statusColumn,
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.display.state',
      description: 'Worst state of all bundles.',
      priority: 1,
    },
    {
      name: 'Version',
      type: 'string',
      jsonPath: '.status.agent.kubernetesVersion',
      description: 'Version of Kubernetes downstream.',
      priority: 1,
    },
    {
      name: 'Nodes',
      type: 'integer',
      jsonPath: '.status.agent.nodes',
      description: 'Nodes downstream.',
      priority: 1,
    },
    {
      name: 'Cluster-Namespace',
      type: 'string',
      jsonPath: '.status.namespace',
      description: 'Namespace that holds what the cluster should run.',
      priority: 1,
    },
    ageColumn,
  ],
});

export type Cluster = ObjectOf<typeof clusterDescriptor.schema>;
export type ClusterSpec = z.input<typeof clusterSpec>;
export type ClusterStatus = z.input<typeof clusterStatus>;
