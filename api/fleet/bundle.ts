/** Bundle: files and how they are rolled out to which clusters. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { labelSelector } from '../kubernetes/label-selector.ts';
import { flag, int, int64, intOrString, text } from '../schema.ts';
import { bundleOptionFields, dependsOn, helmOpOptions } from './bundle-options.ts';
import { group, version } from './constants.ts';
import { ageColumn, readyColumn, statusColumn } from './printer-columns.ts';
import { bundleSummary, conditions } from './status.ts';
import { targetFields } from './target.ts';

const rolloutStrategy = z
  .object({
    maxUnavailable: intOrString('How many clusters may be out of date or not ready at once.').nullish(),
    maxUnavailablePartitions: intOrString('How many partitions may be unavailable at once.').nullish(),
    autoPartitionSize: intOrString('Size of automatic partitions.').nullish(),
    autoPartitionThreshold: int('From how many clusters on there are automatic partitions.').nullish(),
    maxNew: int('How many new deployments are made in one go.').nullish(),
    partitions: z
      .array(
        z
          .object({
            name: text('Name of the partition, for people.').nullish(),
            maxUnavailable: intOrString('How many of its clusters may be out of date at once.').optional(),
            clusterName: text('Name of one cluster.').optional(),
            clusterSelector: labelSelector('Clusters by label.').optional(),
            clusterGroup: text('Name of a ClusterGroup.').optional(),
            clusterGroupSelector: labelSelector('ClusterGroups by label.').nullish(),
          })
          .describe('A partition and its criteria.'),
      )
      .describe('Partitions, in the order of the rollout.')
      .nullish(),
  })
  .describe('How changes are rolled out.');

export const bundleSpec = z
  .object({
    ...bundleOptionFields,
    paused: flag('Nothing new is rolled out.').optional(),
    rolloutStrategy: rolloutStrategy.nullish(),
    resources: z
      .array(
        z
          .object({
            name: text('Path of the file.').nullish(),
            content: text('Content of the file.').nullish(),
            encoding: text('None for plain text, base64, or base64+gz.').nullish(),
          })
          .describe('A file.'),
      )
      .describe('The files.')
      .nullish(),
    targets: z
      .array(
        z
          .object({
            ...targetFields,
            ...bundleOptionFields,
            doNotDeploy: flag('Clusters that match get nothing.').optional(),
          })
          .describe('Clusters, and options for them.'),
      )
      .describe('Which clusters get the bundle; the first that matches wins.')
      .optional(),
    targetRestrictions: z
      .array(z.object(targetFields).describe('Clusters.'))
      .describe('Clusters that may be targeted at all; all of them when empty.')
      .optional(),
    targetCustomizationMode: z
      .enum(['FirstMatch', 'AllMatches'])
      .default('FirstMatch')
      .describe('Whether the first customization that matches is used, or all of them on top of each other.'),
    dependsOn: dependsOn.nullish(),
    contentsId: text('Content, or OCI artifact, that holds the files instead of the list above.').nullish(),
    helmOpOptions: helmOpOptions('How the chart is fetched, for bundles made by a HelmOp.').nullish(),
    valuesHash: text('Hash of the values Secret that belongs to the bundle.').optional(),
  })
  .describe('What should be rolled out, and where.');

export const bundleStatus = z
  .object({
    conditions: conditions.optional(),
    summary: bundleSummary('Deployments of the bundle by state.').optional(),
    newlyCreated: int('Deployments that were made in the last round.').optional(),
    unavailable: int('Deployments that are out of date or not ready.').optional(),
    unavailablePartitions: int('Partitions with too many of them.').optional(),
    maxUnavailable: int('How many there may be.').optional(),
    maxUnavailablePartitions: int('How many such partitions there may be.').optional(),
    partitions: z
      .array(
        z
          .object({
            name: text('Name of the partition.').nullish(),
            count: int('Clusters in it.').optional(),
            maxUnavailable: int('How many of them may be unavailable.').optional(),
            unavailable: int('How many of them are.').optional(),
            summary: bundleSummary('Deployments of the partition by state.').optional(),
          })
          .describe('One partition.'),
      )
      .describe('The rollout by partition.')
      .optional(),
    display: z
      .object({
        readyClusters: text('Ready and targeted clusters, as "3/4".').nullish(),
        state: text('Worst state of all deployments.').nullish(),
      })
      .describe('For columns of kubectl.')
      .optional(),
    resourceKey: z
      .array(
        z
          .object({
            kind: text('Kind of the resource.').nullish(),
            apiVersion: text('API version of the resource.').nullish(),
            namespace: text('Namespace of the resource.').nullish(),
            name: text('Name of the resource.').nullish(),
          })
          .describe('A resource.'),
      )
      .describe('Resources of the bundle on the clusters.')
      .nullish(),
    ociReference: text('OCI artifact that holds the files.').optional(),
    observedGeneration: int64('Generation that the status was computed from.').optional(),
    resourcesSha256Sum: text('SHA-256 of the files, in hex.').optional(),
  })
  .describe('How the rollout is going.');

export const bundleDescriptor = defineResource({
  group,
  version,
  kind: 'Bundle',
  plural: 'bundles',
  namespaced: true,
  description: 'Files, and how they are rolled out to which clusters.',
  shortNames: ['fb'],
  categories: ['fleet'],
  schema: z.object({ spec: bundleSpec.optional(), status: bundleStatus.optional() }),
  printerColumns: [
    {
      name: 'BundleDeployments-Ready',
      type: 'string',
      jsonPath: '.status.display.readyClusters',
      description: 'Ready and wanted deployments.',
    },
    readyColumn,
    statusColumn,
    ageColumn,
  ],
});

export type Bundle = ObjectOf<typeof bundleDescriptor.schema>;
export type BundleSpec = z.input<typeof bundleSpec>;
export type BundleStatus = z.input<typeof bundleStatus>;
