/** ClusterGroup: clusters that are addressed together. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { labelSelector } from '../kubernetes/label-selector.ts';
import { int, text, texts } from '../schema.ts';
import { group, version } from './constants.ts';
import { ageColumn, statusColumn } from './printer-columns.ts';
import { bundleSummary, conditions, resourceCounts } from './status.ts';

export const clusterGroupSpec = z
  .object({ selector: labelSelector('Clusters of the same namespace that belong to the group.').nullish() })
  .describe('Which clusters belong to the group.');

export const clusterGroupStatus = z
  .object({
    clusterCount: int('Clusters of the group.').optional(),
    nonReadyClusterCount: int('Clusters of the group that are not ready.').optional(),
    nonReadyClusters: texts('Names of clusters that are not ready; ten at most.').nullish(),
    conditions: conditions.optional(),
    summary: bundleSummary('Bundles of all clusters of the group by state.').optional(),
    resourceCounts: resourceCounts('Resources of all clusters of the group by state.').optional(),
    display: z
      .object({
        readyClusters: text('Ready and all clusters, as "3/4".').nullish(),
        readyBundles: text('Ready and wanted bundles, as "3/4".').nullish(),
        state: text('Worst state of all bundles.').nullish(),
      })
      .describe('For columns of kubectl.')
      .optional(),
  })
  .describe('How the clusters of the group are.');

export const clusterGroupDescriptor = defineResource({
  group,
  version,
  kind: 'ClusterGroup',
  plural: 'clustergroups',
  namespaced: true,
  description: 'Clusters that are addressed together.',
  shortNames: ['fcg'],
  categories: ['fleet'],
  schema: z.object({ spec: clusterGroupSpec.optional(), status: clusterGroupStatus.optional() }),
  printerColumns: [
    {
      name: 'Clusters-Ready',
      type: 'string',
      jsonPath: '.status.display.readyClusters',
      description: 'Ready and all clusters.',
    },
    {
      name: 'Bundles-Ready',
      type: 'string',
      jsonPath: '.status.display.readyBundles',
      description: 'Ready and wanted bundles.',
    },
    statusColumn,
    ageColumn,
  ],
});

export type ClusterGroup = ObjectOf<typeof clusterGroupDescriptor.schema>;
export type ClusterGroupSpec = z.input<typeof clusterGroupSpec>;
export type ClusterGroupStatus = z.input<typeof clusterGroupStatus>;
