/** Parts of pods and containers that kinds of ours carry: environment, resources, tolerations. */
import { z } from 'zod';
import { atomicMap, flag, int64, quantity, text } from '../schema.ts';

/** `from` is what kind of object the key is read from. */
const keyRef = (from: string) =>
  z
    .object({
      key: text(`Key within the ${from}.`),
      name: z.string().default('').describe(`Name of the ${from}, in the pod's namespace.`),
      optional: flag(`Start the container also when the ${from} or the key is missing.`).optional(),
    })
    .meta({ description: `Value of a key of a ${from}.`, ...atomicMap });

const envSource = z
  .object({
    configMapKeyRef: keyRef('ConfigMap').optional(),
    secretKeyRef: keyRef('Secret').optional(),
    fieldRef: z
      .object({
        apiVersion: text('Version of the path; v1 when not given.').optional(),
        fieldPath: text('Path of the field, such as metadata.name.'),
      })
      .meta({ description: 'A field of the pod.', ...atomicMap })
      .optional(),
    resourceFieldRef: z
      .object({
        containerName: text('Container whose resources are meant.').optional(),
        divisor: quantity('Unit of the value; 1 when not given.').optional(),
        resource: text('Resource, such as limits.memory.'),
      })
      .meta({ description: 'A resource request or limit of a container.', ...atomicMap })
      .optional(),
    fileKeyRef: z
      .object({
        key: text('Key within the file.'),
        optional: z.boolean().default(false).describe('Start the container also when the file or key is missing.'),
        path: text('Path of the file within the volume.'),
        volumeName: text('Volume that holds the file.'),
      })
      .meta({ description: 'Value of a key of an environment file.', ...atomicMap })
      .optional(),
  })
  .describe('Where the value comes from when it is not given directly.');

/** One environment variable. */
export const envVar = z
  .object({
    name: text('Name of the variable.'),
    value: text('Value; may refer to earlier variables as $(NAME).').optional(),
    valueFrom: envSource.optional(),
  })
  .describe('One environment variable.');

export type EnvVar = z.input<typeof envVar>;

/** Requests and limits. */
export const resourceRequirements = (description: string) =>
  z
    .object({
      claims: z
        .array(
          z
            .object({
              name: text('Name of an entry in the resource claims of the pod.'),
              request: text('One request of that claim; all of it when not given.').optional(),
            })
            .describe('A claim that the container uses.'),
        )
        .meta({
          description: 'Dynamically allocated resources that the container uses.',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        })
        .optional(),
      limits: z.record(z.string(), quantity('Most of it.')).describe('Most of each resource to use.').optional(),
      requests: z
        .record(z.string(), quantity('Least of it.'))
        .describe('Least of each resource to reserve.')
        .optional(),
    })
    .describe(description);

export type ResourceRequirements = z.input<ReturnType<typeof resourceRequirements>>;

/** One toleration. */
export const toleration = z
  .object({
    effect: text('NoSchedule, PreferNoSchedule or NoExecute; every effect when not given.').optional(),
    key: text('Key of the taint; every key when not given.').optional(),
    operator: text('Exists or Equal; Equal when not given.').optional(),
    tolerationSeconds: int64('How long a NoExecute taint is tolerated; for ever when not given.').optional(),
    value: text('Value of the taint, for Equal.').optional(),
  })
  .describe('A taint that the pod tolerates.');

export type Toleration = z.input<typeof toleration>;

/** A Secret or other object of the same namespace, by name. */
export const localReference = (description: string) =>
  z.object({ name: z.string().default('').describe('Name of the object.') }).meta({ description, ...atomicMap });

export type LocalReference = z.input<ReturnType<typeof localReference>>;
