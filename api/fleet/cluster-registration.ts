/** ClusterRegistration: an agent's request to be registered. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { flag, text, textMap } from '../schema.ts';
import { group, version } from './constants.ts';
import { ageColumn } from './printer-columns.ts';
import { conditions } from './status.ts';

export const clusterRegistrationSpec = z
  .object({
    clientID: text('Identity of the cluster; by default the UID of its kube-system namespace.').nullish(),
    clientRandom: text('Text that only the sender knows; with clientID it names the Secret that answers.').nullish(),
    clusterLabels: textMap('Labels for the Cluster, should it have to be made.').nullish(),
  })
  .describe('What is asked for.');

export const clusterRegistrationStatus = z
  .object({
    clusterName: text('Cluster that the request belongs to.').nullish(),
    granted: flag('Rights are in place and the answer is published.').optional(),
    conditions: conditions.optional(),
  })
  .describe('What became of it.');

export const clusterRegistrationDescriptor = defineResource({
  group,
  version,
  kind: 'ClusterRegistration',
  plural: 'clusterregistrations',
  namespaced: true,
  description: 'A request of an agent to be registered.',
  shortNames: ['fcr'],
  categories: ['fleet'],
  schema: z.object({ spec: clusterRegistrationSpec.optional(), status: clusterRegistrationStatus.optional() }),
  printerColumns: [
    {
      name: 'Cluster-Name',
      type: 'string',
      jsonPath: '.status.clusterName',
      description: 'Cluster that the request belongs to.',
    },
    {
      name: 'Granted',
      type: 'boolean',
      jsonPath: '.status.granted',
      description: 'Whether the agent can fetch its credential.',
    },
    {
      name: 'Reason',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Granted")].reason',
      description: 'Why it is not granted.',
    },
    { name: 'Labels', type: 'string', jsonPath: '.spec.clusterLabels', description: 'Labels asked for.', priority: 1 },
    ageColumn,
  ],
});

export type ClusterRegistration = ObjectOf<typeof clusterRegistrationDescriptor.schema>;
export type ClusterRegistrationSpec = z.input<typeof clusterRegistrationSpec>;
export type ClusterRegistrationStatus = z.input<typeof clusterRegistrationStatus>;
