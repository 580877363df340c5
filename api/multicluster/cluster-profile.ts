/** ClusterProfile: one cluster of an inventory, as schedulers and GitOps tools read it. The kind is SIG Multicluster's. */
import { z } from 'zod';
import type { ObjectOf } from '../define-resource.ts';
import { defineResource } from '../define-resource.ts';
import { bytes, flag, freeform, text, time } from '../schema.ts';
import { group, version } from './constants.ts';

const listBy = (key: string) => ({
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});

export const clusterProfileSpec = z
  .object({
    displayName: text('Name of the cluster for people.').optional(),
    clusterManager: z.object({ name: text('Name of the cluster manager.') }).meta({
      description: 'Who publishes this profile; it cannot be changed.',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'ClusterManager is immutable' }],
    }),
  })
  .describe('Which cluster this is, and whose.');

const condition = z
  .object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      )
      .describe('Such as ControlPlaneHealthy.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    observedGeneration: z
      .int()
      .min(0)
      .meta({ description: 'Generation of the profile that it was computed from.', format: 'int64' })
      .optional(),
    lastTransitionTime: time('When the status last changed.'),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('A word for programs.'),
    message: z.string().max(32768).describe('A sentence for people.'),
  })
  .describe('One aspect of the state of the cluster.');

const namedExtension = z
  .object({
    name: text('Name of the extension.'),
    extension: freeform('What it holds.'),
  })
  .describe('Further data for who connects.');

const endpoint = z
  .object({
    server: text('Address of the API server.'),
    'tls-server-name': text(
      'Name in the certificate of the API server, when it is not the one in its address.',
    ).optional(),
    'insecure-skip-tls-verify': flag('Do not check the certificate of the API server.').optional(),
    'certificate-authority': text('File with the certificates that sign the API server.').optional(),
    'certificate-authority-data': bytes('Certificates that sign the API server.').optional(),
    'proxy-url': text('Proxy on the way to the API server.').optional(),
    'disable-compression': flag('Ask for answers without compression.').optional(),
    extensions: z
      .array(namedExtension)
      .describe('Further data for who connects, such as what a plugin needs.')
      .optional(),
  })
  .describe('How the API server is reached, as in a kubeconfig.');

const accessProvider = z
  .object({
    name: text('Plugin that provides the credential.'),
    cluster: endpoint.optional(),
  })
  .describe('One way to connect to the cluster.');

const property = z
  .object({
    name: z.string().min(1).max(253).describe('Name of the property.'),
    value: z.string().min(1).max(1024).describe('Its value.'),
    lastObservedTime: time('When it was last seen on the cluster.').optional(),
  })
  .describe('One characteristic of the cluster.');

export const clusterProfileStatus = z
  .object({
    conditions: z
      .array(condition)
      .meta({ description: 'State of the cluster.', ...listBy('type') })
      .optional(),
    version: z
      .object({ kubernetes: text('Version of Kubernetes.').optional() })
      .describe('Versions of the cluster.')
      .optional(),
    properties: z
      .array(property)
      .meta({ description: 'Characteristics of the cluster.', ...listBy('name') })
      .optional(),
    credentialProviders: z
      .array(accessProvider)
      .meta({ description: 'Former name of accessProviders.', ...listBy('name') })
      .optional(),
    accessProviders: z
      .array(accessProvider)
      .meta({ description: 'Ways to connect to the cluster.', ...listBy('name') })
      .optional(),
  })
  .describe('What is known of the cluster.');

export const clusterProfileDescriptor = defineResource({
  group,
  version,
  kind: 'ClusterProfile',
  plural: 'clusterprofiles',
  namespaced: true,
  description: 'One cluster of an inventory.',
  schema: z.object({ spec: clusterProfileSpec, status: clusterProfileStatus.optional() }),
});

export type ClusterProfile = ObjectOf<typeof clusterProfileDescriptor.schema>;
export type ClusterProfileSpec = z.input<typeof clusterProfileSpec>;
export type ClusterProfileStatus = z.input<typeof clusterProfileStatus>;
export type AccessProvider = z.input<typeof accessProvider>;
export type ClusterProperty = z.input<typeof property>;
export type ProfileCondition = z.input<typeof condition>;
