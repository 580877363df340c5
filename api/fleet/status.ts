/** Parts of status that several Fleet kinds share: conditions, counts, summaries. */
import { z } from 'zod';
import { flag, int, int64, text, texts } from '../schema.ts';

export const conditions = z
  .array(
    z
      .object({
        type: text('Which question this condition answers, such as Ready.'),
        status: text('True, False or Unknown.'),
        reason: text('One CamelCase word for programs.').optional(),
        message: text('A sentence for people: what is missing and what to do.').optional(),
        observedGeneration: int64('Generation of the object that this was computed from.').optional(),
        lastTransitionTime: text('When the status last changed, RFC 3339.').optional(),
        lastUpdateTime: text('When anything of this condition last changed, RFC 3339.').optional(),
      })
      .describe('One condition.'),
  )
  .describe('Which stages have been reached, and why not further.');

/** Counts of deployed resources by state. */
export const resourceCounts = (description: string) =>
  z
    .object({
      ready: int('Resources that are ready.').optional(),
      desiredReady: int('Resources that should be ready.').optional(),
      waitApplied: int('Resources that wait to be applied.').optional(),
      modified: int('Resources that differ from what was deployed.').optional(),
      orphaned: int('Resources that should no longer be there.').optional(),
      missing: int('Resources that are not there.').optional(),
      unknown: int('Resources whose state could not be told.').optional(),
      notReady: int('Resources that are there but not ready.').optional(),
    })
    .describe(description);

export type ResourceCounts = z.input<ReturnType<typeof resourceCounts>>;

/** A resource that is not ready. */
export const nonReadyStatus = z
  .object({
    uid: text('UID of the resource.').nullish(),
    kind: text('Kind of the resource.').nullish(),
    apiVersion: text('API version of the resource.').nullish(),
    namespace: text('Namespace of the resource.').nullish(),
    name: text('Name of the resource.').nullish(),
    summary: z
      .object({
        state: text('State in one word.').optional(),
        error: flag('The state is an error.').optional(),
        transitioning: flag('The state will change by itself.').optional(),
        message: texts('What the resource says about itself.').optional(),
      })
      .describe('State of the resource.')
      .optional(),
  })
  .describe('A resource that is not ready.');

export type NonReadyStatus = z.input<typeof nonReadyStatus>;

/** A resource that differs from what was deployed. */
export const modifiedStatus = z
  .object({
    kind: text('Kind of the resource.').nullish(),
    apiVersion: text('API version of the resource.').nullish(),
    namespace: text('Namespace of the resource.').nullish(),
    name: text('Name of the resource.').nullish(),
    missing: flag('The resource should be there and is not.').optional(),
    exist: flag('The resource is there already and belongs to something else.').optional(),
    delete: flag('The resource is there and should be deleted.').optional(),
    patch: text('Patch that would bring the resource back, as JSON.').nullish(),
  })
  .describe('A resource that differs from what was deployed.');

export type ModifiedStatus = z.input<typeof modifiedStatus>;

/** BundleDeployments by state. */
export const bundleSummary = (description: string) =>
  z
    .object({
      notReady: int('Deployed, and not ready.').optional(),
      waitApplied: int('Waiting to be deployed.').optional(),
      errApplied: int('Failed to deploy.').optional(),
      outOfSync: int('Held back by the rollout.').optional(),
      modified: int('Changed since they were deployed.').optional(),
      ready: int('Deployed and ready.').optional(),
      pending: int('Not yet looked at.').optional(),
      desiredReady: int('How many there should be.').optional(),
      nonReadyResources: z
        .array(
          z
            .object({
              name: text('Name of the bundle or cluster.').nullish(),
              bundleState: text('Its state.').nullish(),
              message: text('Why it is in that state.').nullish(),
              modifiedStatus: z.array(modifiedStatus).describe('Resources that differ.').nullish(),
              nonReadyStatus: z.array(nonReadyStatus).describe('Resources that are not ready.').nullish(),
            })
            .describe('Something that is not ready.'),
        )
        .describe('What is not ready; ten entries at most.')
        .nullish(),
    })
    .describe(description);

export type BundleSummary = z.input<ReturnType<typeof bundleSummary>>;

/** The states of BundleDeployments, worst first. */
export const bundleStates = [
  'ErrApplied',
  'WaitApplied',
  'Modified',
  'OutOfSync',
  'Pending',
  'NotReady',
  'Ready',
] as const;
