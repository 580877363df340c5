/** ClusterRegistrationToken: permission to register clusters into a namespace, for a time. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { goDuration, text, time } from '../schema.ts';
import { group, version } from './constants.ts';
import { conditions } from './status.ts';
import { ageColumn } from './printer-columns.ts';

export const clusterRegistrationTokenSpec = z
  .object({
    ttl: goDuration(
      'How long the token lives, counted from its creation; 0, or nothing, means for ever. It is deleted afterwards.',
    ).nullish(),
  })
  .describe('What the token should be.');

export const clusterRegistrationTokenStatus = z
  .object({
    expires: time('When the token will be deleted.').optional(),
    secretName: text('Secret of the same namespace with the values for the agent.').nullish(),
    conditions: conditions.optional(),
  })
  .describe('What the token is.');

export const clusterRegistrationTokenDescriptor = defineResource({
  group,
  version,
  kind: 'ClusterRegistrationToken',
  plural: 'clusterregistrationtokens',
  namespaced: true,
  description: 'Permission to register clusters into a namespace, for a time.',
  shortNames: ['fcrt'],
  categories: ['fleet'],
  schema: z.object({
    spec: clusterRegistrationTokenSpec.optional(),
    status: clusterRegistrationTokenStatus.optional(),
  }),
  printerColumns: [
    {
      name: 'Secret-Name',
      type: 'string',
      jsonPath: '.status.secretName',
      description: 'Secret with the values for the agent.',
    },
    {
      name: 'Issued',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Issued")].status',
      description: 'Whether it can be used.',
    },
    { name: 'TTL', type: 'string', jsonPath: '.spec.ttl', description: 'How long it lives.' },
    { name: 'Expires', type: 'string', jsonPath: '.status.expires', description: 'When it ends.' },
    ageColumn,
  ],
});

export type ClusterRegistrationToken = ObjectOf<typeof clusterRegistrationTokenDescriptor.schema>;
export type ClusterRegistrationTokenSpec = z.input<typeof clusterRegistrationTokenSpec>;
export type ClusterRegistrationTokenStatus = z.input<typeof clusterRegistrationTokenStatus>;
