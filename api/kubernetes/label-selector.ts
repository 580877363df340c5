/** Label selectors, as Kubernetes defines them. */
import { z } from 'zod';
import { atomicList, atomicMap, text, textMap } from '../schema.ts';

const requirement = z
  .object({
    key: text('Label key.'),
    operator: text('In, NotIn, Exists or DoesNotExist.'),
    values: z
      .array(z.string())
      .meta({ description: 'Values for In and NotIn; empty for the other operators.', ...atomicList })
      .optional(),
  })
  .describe('One requirement on a label.');

/** A selector; every given requirement must hold, an empty selector matches everything. */
export const labelSelector = (description: string) =>
  z
    .object({
      matchLabels: textMap('Labels that must be there with exactly these values.').optional(),
      matchExpressions: z
        .array(requirement)
        .meta({ description: 'Further requirements; all must hold.', ...atomicList })
        .optional(),
    })
    .meta({ description, ...atomicMap });

export type LabelSelector = z.input<ReturnType<typeof labelSelector>>;
