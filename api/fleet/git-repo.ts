/** GitRepo: a Git repository that bundles are made from. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { bytes, flag, goDuration, int, int64, text, texts, time } from '../schema.ts';
import { correctDrift } from './bundle-options.ts';
import { group, version } from './constants.ts';
import { ageColumn, readyColumn, statusColumn } from './printer-columns.ts';
import { bundleSummary, conditions, resourceCounts } from './status.ts';
import { targetFields } from './target.ts';

export const gitRepoSpec = z
  .object({
    repo: z.string().min(1).describe('URL of the repository, https or ssh.'),
    branch: text('Branch to follow; master when neither branch nor revision is given.').nullish(),
    revision: text('Commit or tag to stay at.').nullish(),
    targetNamespace: text('Namespace that all resources are put into.').nullish(),
    clientSecretName: text('Secret with the credentials for the repository.').nullish(),
    helmSecretName: text('Secret with the credentials for chart repositories.').nullish(),
    helmSecretNameForPaths: text('Secret with the credentials for chart repositories, by path.').nullish(),
    helmRepoURLRegex: text('Chart repositories that the credentials are for; all of them when not given.').nullish(),
    caBundle: bytes('Certificates that sign the repository, PEM.').nullish(),
    insecureSkipTLSVerify: flag('Do not verify the certificate of the repository.').optional(),
    paths: texts('Folders to make bundles from, or patterns of them; the whole repository when not given.').nullish(),
    paused: flag('Nothing new is rolled out.').optional(),
    serviceAccount: text('ServiceAccount of the downstream cluster that deploys.').nullish(),
    targets: z
      .array(z.object(targetFields).describe('Clusters.'))
      .describe('Which clusters get the bundles; the ClusterGroup "default" when not given.')
      .optional(),
    pollingInterval: goDuration('How often the repository is looked at; 15s when not given.').nullish(),
    disablePolling: flag('Look at the repository only when a webhook says so.').optional(),
    forceSyncGeneration: int64('Change it to deploy again although nothing changed.').optional(),
    imageScanInterval: goDuration('How often images are looked at.').optional(),
    imageScanCommit: z
      .object({
        authorName: text('Name of the author.').optional(),
        authorEmail: text('Mail address of the author.').optional(),
        messageTemplate: text('Template of the message.').optional(),
      })
      .describe('The commits that update images.')
      .optional(),
    keepResources: flag('Leave resources in place when the bundles are removed.').optional(),
    deleteNamespace: flag('Remove the target namespace together with the bundles.').optional(),
    correctDrift: correctDrift.optional(),
    ociRegistrySecret: text('Secret with the credentials for the registry that holds the files.').optional(),
    webhookSecret: text('Secret that webhooks of the repository are checked with.').optional(),
    bundles: z
      .array(
        z
          .object({
            base: text('Folder of the bundle.').optional(),
            options: text('File with its options, within the folder.').nullish(),
          })
          .describe('A bundle.'),
      )
      .describe('Bundles given one by one, instead of paths.')
      .optional(),
  })
  .describe('Which repository, and where its bundles go.');

const clusterNames = (state: string) => texts(`Clusters where the resource is ${state}.`).optional();

const perClusterState = z
  .object({
    ready: clusterNames('ready'),
    notReady: clusterNames('not ready'),
    waitApplied: clusterNames('waiting to be applied'),
    modified: clusterNames('modified'),
    orphaned: clusterNames('orphaned'),
    missing: clusterNames('missing'),
    pending: clusterNames('pending'),
    unknown: clusterNames('in an unknown state'),
  })
  .describe('Clusters by the state of the resource there.');

const gitRepoResource = z
  .object({
    apiVersion: text('API version of the resource.').nullish(),
    kind: text('Kind of the resource.').nullish(),
    type: text('Kind and group of the resource, as in a URL.').optional(),
    id: text('Namespace and name of the resource.').nullish(),
    namespace: text('Namespace of the resource.').nullish(),
    name: text('Name of the resource.').nullish(),
    incompleteState: flag('Not all clusters are listed.').optional(),
    state: text('Worst state of the resource.').optional(),
    error: flag('The state is an error.').optional(),
    transitioning: flag('The state will change by itself.').optional(),
    message: text('What the resource says about itself.').nullish(),
    perClusterState: perClusterState.nullable(),
  })
  .describe('A resource.');

export const gitRepoStatus = z
  .object({
    conditions: conditions.optional(),
    observedGeneration: int64('Generation that the status was computed from.').optional(),
    updateGeneration: int64('Value of forceSyncGeneration that was last acted on.').optional(),
    commit: text('Commit that the bundles were made from.').optional(),
    webhookCommit: text('Commit that a webhook last told of.').optional(),
    pollingCommit: text('Commit that was last seen.').optional(),
    lastPollingTriggered: time('When the repository was last looked at.').optional(),
    lastWebhookTime: time('When a webhook last came.').optional(),
    lastSyncedImageScanTime: time('When images were last looked at.').optional(),
    gitJobStatus: text('State of the job that makes the bundles.').optional(),
    readyClusters: int('Clusters where all bundles are ready.').optional(),
    desiredReadyClusters: int('Clusters that are targeted.').optional(),
    summary: bundleSummary('Deployments of all bundles by state.').optional(),
    resourceCounts: resourceCounts('Resources of all bundles by state.').optional(),
    perClusterResourceCounts: z
      .record(z.string(), resourceCounts('Resources of one cluster by state.'))
      .describe('Resources by cluster and state.')
      .optional(),
    resources: z.array(gitRepoResource).describe('Resources of all bundles.').optional(),
    display: z
      .object({
        readyBundleDeployments: text('Ready and wanted deployments, as "3/4".').optional(),
        state: text('Worst state of all deployments.').optional(),
        message: text('What that state means.').optional(),
        error: flag('The state is an error.').optional(),
      })
      .describe('For columns of kubectl.')
      .optional(),
  })
  .describe('What became of the repository.');

export const gitRepoDescriptor = defineResource({
  group,
  version,
  kind: 'GitRepo',
  plural: 'gitrepos',
  namespaced: true,
  description: 'A Git repository that bundles are made from.',
  shortNames: ['fgr'],
  categories: ['fleet'],
  schema: z.object({ spec: gitRepoSpec.optional(), status: gitRepoStatus.optional() }),
  printerColumns: [
    { name: 'Repo', type: 'string', jsonPath: '.spec.repo', description: 'URL of the repository.' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit', description: 'Commit in use.' },
    {
      name: 'BundleDeployments-Ready',
      type: 'string',
      jsonPath: '.status.display.readyBundleDeployments',
      description: 'Ready and wanted deployments.',
    },
    readyColumn,
    statusColumn,
    ageColumn,
  ],
});

export type GitRepo = ObjectOf<typeof gitRepoDescriptor.schema>;
export type GitRepoSpec = z.input<typeof gitRepoSpec>;
export type GitRepoStatus = z.input<typeof gitRepoStatus>;
