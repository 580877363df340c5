/** How a bundle is deployed; the same options stand in Bundle, in its targets and in BundleDeployment. */
import { z } from 'zod';
import { labelSelector } from '../kubernetes/label-selector.ts';
import { bytes, flag, freeform, int, int64, text, textMap, texts } from '../schema.ts';

export const correctDrift = z
  .object({
    enabled: flag('Undo changes that others make to deployed resources.').optional(),
    force: flag('Replace resources instead of patching them.').optional(),
    keepFailHistory: flag('Keep the release history of failed corrections.').optional(),
  })
  .describe('What to do when deployed resources are changed by others.');

const valuesRef = (kind: string) =>
  z
    .object({
      name: text(`Name of the ${kind}.`).nullish(),
      namespace: text(`Namespace of the ${kind}; that of the bundle when not given.`).nullish(),
      key: text('Key that holds the values; values.yaml when not given.').nullish(),
    })
    .describe(`Values from a ${kind} of the downstream cluster.`);

const releaseName = z
  .string()
  .max(53)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/, 'must be a helm release name')
  .describe('Release name; made from the name of the bundle when not given.');

const helm = z
  .object({
    chart: text('Chart: a path, a name within repo, or a URL.').nullish(),
    repo: text('URL of the chart repository.').nullish(),
    version: text('Version of the chart, or a range of versions.').nullish(),
    releaseName: releaseName.nullish(),
    values: freeform('Values for the chart.').nullish(),
    valuesFrom: z
      .array(
        z
          .object({
            configMapKeyRef: valuesRef('ConfigMap').nullish(),
            secretKeyRef: valuesRef('Secret').nullish(),
          })
          .describe('One source of values.'),
      )
      .describe('Values that are read on the downstream cluster; later ones win.')
      .nullish(),
    valuesFiles: texts('Files of the bundle that hold values; later ones win.').nullish(),
    templateValues: textMap('Values whose text is a template, filled in for each cluster.').nullish(),
    timeoutSeconds: int('How long helm waits for resources to be ready; 0 does not wait.').optional(),
    maxHistory: int('How many revisions helm keeps.').optional(),
    force: flag('Replace resources that cannot be patched.').optional(),
    takeOwnership: flag('Take over resources that belong to no release.').optional(),
    atomic: flag('Roll back when an upgrade fails.').optional(),
    waitForJobs: flag('Wait for jobs as well; needs timeoutSeconds.').optional(),
    disablePreProcess: flag('Do not fill in templates in values.').optional(),
    disableDNS: flag('No name lookups while rendering.').optional(),
    skipSchemaValidation: flag('Do not check values against the schema of the chart.').optional(),
    disableDependencyUpdate: flag('Do not fetch dependencies of the chart.').optional(),
  })
  .describe('Options for helm.');

const diff = z
  .object({
    comparePatches: z
      .array(
        z
          .object({
            apiVersion: text('API version of the resource.').nullish(),
            kind: text('Kind of the resource.').nullish(),
            namespace: text('Namespace of the resource.').nullish(),
            name: text('Name of the resource, or a pattern.').nullish(),
            jsonPointers: texts('Fields to leave out.').nullish(),
            operations: z
              .array(
                z
                  .object({
                    op: text('JSON patch operation, or ignore.').nullish(),
                    path: text('Path that it applies to.').nullish(),
                    value: text('Value of the operation.').nullish(),
                  })
                  .describe('One operation.'),
              )
              .describe('JSON patch that is applied before comparing.')
              .nullish(),
          })
          .describe('Adjustments for one resource.'),
      )
      .describe('Adjustments before resources are compared.')
      .nullish(),
  })
  .describe('What to overlook when looking for changes.');

/** The fields of Fleet's BundleDeploymentOptions; spread into larger objects. */
export const bundleOptionFields = {
  defaultNamespace: text('Namespace for resources that name none.').nullish(),
  namespace: text('Namespace that all resources are put into; cluster-scoped ones are then refused.').nullish(),
  helm: helm.optional(),
  kustomize: z
    .object({ dir: text('Folder of the bundle to run kustomize in.').nullish() })
    .describe('Options for kustomize.')
    .nullish(),
  yaml: z
    .object({ overlays: texts('Names of the overlays to apply, in order.').nullish() })
    .describe('Options for plain manifests.')
    .nullish(),
  serviceAccount: text('ServiceAccount of the downstream cluster that deploys.').nullish(),
  createNamespace: flag('Make the namespace when it is missing; true when not given.').nullish(),
  forceSyncGeneration: int64('Change it to deploy again although nothing changed.').optional(),
  diff: diff.nullish(),
  keepResources: flag('Leave resources in place when the bundle is removed.').optional(),
  deleteNamespace: flag('Remove the namespace together with the bundle.').optional(),
  ignore: z
    .object({
      conditions: z
        .array(z.record(z.string(), z.string()).describe('Fields of a condition and their values.'))
        .describe('Conditions that do not count.')
        .nullish(),
    })
    .describe('What to overlook when telling whether resources are ready.')
    .nullish(),
  correctDrift: correctDrift.optional(),
  namespaceLabels: textMap('Labels for the namespace.').nullish(),
  namespaceAnnotations: textMap('Annotations for the namespace.').nullish(),
  deleteCRDResources: flag('Remove CRDs together with the bundle.').optional(),
  downstreamResources: z
    .array(
      z
        .object({ kind: text('Secret or ConfigMap.').optional(), name: text('Name of the object.').optional() })
        .describe('An object to copy.'),
    )
    .describe('Objects that are copied from the hub to the downstream cluster.')
    .optional(),
  overwrites: z
    .array(
      z
        .object({
          kind: text('Kind of the resource.').optional(),
          name: text('Name of the resource.').optional(),
          namespace: text('Namespace of the resource.').optional(),
        })
        .describe('A resource to overwrite.'),
    )
    .describe('Resources of other bundles that this one overwrites.')
    .optional(),
  allowedTargetNamespaceSelector: labelSelector('Labels that the target namespace must have.').nullish(),
};

/** All options as one object. */
export const bundleOptions = (description: string) => z.object(bundleOptionFields).describe(description);

export type BundleOptions = z.input<ReturnType<typeof bundleOptions>>;

/** Bundles that have to be there first. */
export const dependsOn = z
  .array(
    z
      .object({
        name: text('Name of the other bundle.').nullish(),
        selector: labelSelector('Other bundles, by label.').nullish(),
        acceptedStates: texts('States of the other bundle that will do; only Ready when not given.').nullish(),
      })
      .describe('Another bundle.'),
  )
  .describe('Bundles that have to be deployed first.');

/** How charts are fetched for bundles made by a HelmOp. */
export const helmOpOptions = (description: string) =>
  z
    .object({
      helmOpSecretName: text('Secret with the credentials for the repository.').optional(),
      helmOpCABundle: bytes('Certificates that sign the repository, PEM.').nullish(),
      helmOpInsecureSkipTLSVerify: flag('Do not verify the certificate of the repository.').optional(),
    })
    .describe(description);
