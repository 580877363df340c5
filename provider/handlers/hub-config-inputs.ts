/** Schema of `HubRelease.config`: every field of the hub's ConfigMap, and nothing that the hub would drop unseen. */
import { z } from 'zod';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { argoCDProblems } from '../../api/fleet/inventory-config.ts';
import { goDuration } from '../../api/schema.ts';
import { label } from '../inputs.ts';

const text = z.string().min(1);
const anyText = z.string();
const duration = goDuration('').optional();
const count = z.string().regex(/^[1-9][0-9]*$/, 'must be a number above zero, as text');

/** The same words as in the hub's own warnings, at the field that they are about. */
const argoCD = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  for (const problem of argoCDProblems(value)) {
    const [field = '', ...words] = problem.split(' ');
    context.addIssue({ code: 'custom', path: [field], message: words.join(' ') });
  }
});

/** Typed by the wire: a field that is added there has to be added here. */
const fields = {
  systemDefaultRegistry: anyText.optional(),
  agentImage: text.optional(),
  agentImagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  apiServerURL: z.url({ protocol: /^https?$/, error: 'must be a URL such as https://hub.example.com:6443' }).optional(),
  apiServerCA: anyText.optional(),
  agentCheckinInterval: duration,
  agentTLSMode: z.enum(['system-store', 'strict']).optional(),
  agentWorkers: z.strictObject({ bundledeployment: count.optional(), drift: count.optional() }).optional(),
  garbageCollectionInterval: duration,
  imagePullSecrets: z.array(z.strictObject({ name: text })).optional(),
  ignoreClusterRegistrationLabels: z.boolean().optional(),
  registrationTokenTTLRequired: z.boolean().optional(),
  manageAgent: z.boolean().optional(),
  bootstrap: z
    .strictObject({
      enabled: z.boolean().optional(),
      namespace: label.optional(),
      agentNamespace: z.union([label, z.literal('')]).optional(),
      localAgentDisabled: z.boolean().optional(),
      clusterLabels: z.record(z.string(), z.string()).optional(),
      repo: anyText.optional(),
      secret: anyText.optional(),
      branch: anyText.optional(),
      paths: anyText.optional(),
    })
    .optional(),
  inventory: z.strictObject({ clusterProfiles: z.boolean().optional(), argoCD: argoCD.optional() }).optional(),
  gitClientTimeout: duration,
  webhookReceiverURL: anyText.optional(),
  githubURLPrefix: anyText.optional(),
} satisfies Record<keyof HubConfig, z.ZodType>;

export const hubConfigInputs = z.strictObject(fields);
