/** Pod affinity, as Kubernetes defines it. */
import { z } from 'zod';
import { atomicList, atomicMap, int32, text } from '../schema.ts';
import { labelSelector } from './label-selector.ts';

const strings = (description: string) => z.array(z.string()).meta({ description, ...atomicList });

const nodeRequirement = z
  .object({
    key: text('Label or field key.'),
    operator: text('In, NotIn, Exists, DoesNotExist, Gt or Lt.'),
    values: strings('Values that the operator compares with.').optional(),
  })
  .describe('One requirement on a node.');

const nodeRequirements = (description: string) => z.array(nodeRequirement).meta({ description, ...atomicList });

const nodeTerm = (description: string) =>
  z
    .object({
      matchExpressions: nodeRequirements('Requirements on node labels.').optional(),
      matchFields: nodeRequirements('Requirements on node fields.').optional(),
    })
    .meta({ description, ...atomicMap });

const weight = () => int32('1 to 100; the weights of all terms that a node satisfies are added up.');

const nodeAffinity = z
  .object({
    preferredDuringSchedulingIgnoredDuringExecution: z
      .array(
        z
          .object({ preference: nodeTerm('The preferred nodes.'), weight: weight() })
          .describe('A preference and its weight.'),
      )
      .meta({ description: 'Nodes to prefer.', ...atomicList })
      .optional(),
    requiredDuringSchedulingIgnoredDuringExecution: z
      .object({
        nodeSelectorTerms: z
          .array(nodeTerm('One alternative.'))
          .meta({ description: 'Alternatives; one must hold.', ...atomicList }),
      })
      .meta({ description: 'Nodes to accept at all.', ...atomicMap })
      .optional(),
  })
  .describe('Which nodes to run on.');

const podTerm = (description: string) =>
  z
    .object({
      labelSelector: labelSelector('The other pods.').optional(),
      matchLabelKeys: strings('Label keys whose values are taken from the new pod and must be equal.').optional(),
      mismatchLabelKeys: strings('Label keys whose values are taken from the new pod and must differ.').optional(),
      namespaceSelector: labelSelector('Namespaces of the other pods, by label.').optional(),
      namespaces: strings('Namespaces of the other pods, by name.').optional(),
      topologyKey: text('Node label that says what "the same place" means.'),
    })
    .describe(description);

const podAffinity = (description: string) =>
  z
    .object({
      preferredDuringSchedulingIgnoredDuringExecution: z
        .array(
          z
            .object({ podAffinityTerm: podTerm('The preferred pods.'), weight: weight() })
            .describe('A preference and its weight.'),
        )
        .meta({ description: 'Places to prefer.', ...atomicList })
        .optional(),
      requiredDuringSchedulingIgnoredDuringExecution: z
        .array(podTerm('Pods that must be there.'))
        .meta({ description: 'Places to accept at all; all terms must hold.', ...atomicList })
        .optional(),
    })
    .describe(description);

/** Where a pod may or should run. */
export const affinity = (description: string) =>
  z
    .object({
      nodeAffinity: nodeAffinity.optional(),
      podAffinity: podAffinity('Which pods to run beside.').optional(),
      podAntiAffinity: podAffinity('Which pods to keep away from.').optional(),
    })
    .describe(description);

export type Affinity = z.input<ReturnType<typeof affinity>>;
