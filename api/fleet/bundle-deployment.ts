/** BundleDeployment: what one cluster should run of one bundle, and what it says about it. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { flag, int64, text, time } from '../schema.ts';
import { bundleOptions, correctDrift, dependsOn, helmOpOptions } from './bundle-options.ts';
import { group, version } from './constants.ts';
import { ageColumn, readyColumn, statusColumn } from './printer-columns.ts';
import { conditions, modifiedStatus, nonReadyStatus, resourceCounts } from './status.ts';

export const bundleDeploymentSpec = z
  .object({
    paused: flag('The agent leaves the deployment as it is.').optional(),
    stagedOptions: bundleOptions('Options that wait for their turn in the rollout.').optional(),
    stagedDeploymentID: text('Deployment that waits for its turn in the rollout.').nullish(),
    options: bundleOptions('Options of the deployment.').optional(),
    deploymentID: text('Deployment that should run: name of a Content, a colon, and a hash of the options.').nullish(),
    dependsOn: dependsOn.nullish(),
    correctDrift: correctDrift.optional(),
    ociContents: flag('The files are in an OCI registry, not in a Content.').optional(),
    helmChartOptions: helmOpOptions('How the chart is fetched, for bundles made by a HelmOp.').optional(),
    valuesHash: text('Hash of the values Secret that belongs to the deployment.').nullish(),
    downstreamResourcesGeneration: int64('Counts changes of copied objects.').optional(),
    offSchedule: flag('A Schedule keeps the deployment back.').optional(),
    waitingForValues: flag('The values Secret is not there yet.').optional(),
  })
  .describe('What the cluster should run.');

export const bundleDeploymentStatus = z
  .object({
    conditions: conditions.nullish(),
    appliedDeploymentID: text('Deployment that was last acted on, whether it worked or not.').nullish(),
    release: text('Helm release, as namespace/name:revision.').nullish(),
    ready: flag('All resources are ready.').optional(),
    nonModified: flag('All resources are as they were deployed.').optional(),
    nonReadyStatus: z.array(nonReadyStatus).describe('Resources that are not ready; ten at most.').nullish(),
    modifiedStatus: z.array(modifiedStatus).describe('Resources that differ; ten at most.').nullish(),
    incompleteState: flag('One of the two lists was cut.').optional(),
    display: z
      .object({
        deployed: text('Outcome of helm.').nullish(),
        monitored: text('Outcome of the comparison with what runs.').nullish(),
        state: text('State in one word.').nullish(),
      })
      .describe('For columns of kubectl; written by the hub.')
      .nullish(),
    syncGeneration: int64('Value of forceSyncGeneration that was last acted on.').nullish(),
    resources: z
      .array(
        z
          .object({
            kind: text('Kind of the resource.').nullish(),
            apiVersion: text('API version of the resource.').nullish(),
            namespace: text('Namespace of the resource.').nullish(),
            name: text('Name of the resource.').nullish(),
            createdAt: time('When the resource was made.').nullish(),
          })
          .describe('A deployed resource.'),
      )
      .describe('All deployed resources.')
      .nullish(),
    resourceCounts: resourceCounts('Deployed resources by state.').optional(),
    downstreamResourcesGeneration: int64('Value of downstreamResourcesGeneration that was last acted on.').optional(),
  })
  .describe('What the cluster runs.');

export const bundleDeploymentDescriptor = defineResource({
  group,
  version,
  kind: 'BundleDeployment',
  plural: 'bundledeployments',
  namespaced: true,
  description: 'What one cluster should run of one bundle, and what it says about it.',
  shortNames: ['fbd'],
  categories: ['fleet'],
  schema: z.object({ spec: bundleDeploymentSpec.optional(), status: bundleDeploymentStatus.optional() }),
  printerColumns: [
    { name: 'Deployed', type: 'string', jsonPath: '.status.display.deployed', description: 'Outcome of helm.' },
    {
      name: 'Monitored',
      type: 'string',
      jsonPath: '.status.display.monitored',
      description: 'Outcome of the comparison with what runs.',
    },
    readyColumn,
    statusColumn,
    ageColumn,
  ],
});

export type BundleDeployment = ObjectOf<typeof bundleDeploymentDescriptor.schema>;
export type BundleDeploymentSpec = z.input<typeof bundleDeploymentSpec>;
export type BundleDeploymentStatus = z.input<typeof bundleDeploymentStatus>;
