/** Inputs of `AgentRelease` and their schema. */
import { z } from 'zod';
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import { agentSettings } from '../agent-settings.ts';
import { common, duration, label, metadata, userKubeconfig } from '../inputs.ts';
import { isUnknown } from '../unknowns.ts';

const values = z.string().superRefine((text, context) => {
  if (isUnknown(text)) return;
  try {
    parseValues(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

const workerCount = z.string().regex(/^[1-9][0-9]*$/, 'must be a number above zero, as text');

/** What the agent's manifests are made from. */
export const agentFields = {
  values,
  program: z.enum(['muster', 'fleet']).optional(),
  image: z.string().min(1),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  imagePullSecrets: z.array(z.string().min(1)).optional(),
  replicas: z.int().min(0).max(9).optional(),
  clientID: z.string().min(1).max(253).optional(),
  labels: metadata.shape.labels,
  agentSettings: agentSettings.optional(),
  checkinInterval: duration.optional(),
  agentTLSMode: z.enum(['system-store', 'strict']).optional(),
  systemDefaultRegistry: z.string().min(1).optional(),
  garbageCollectionInterval: duration.optional(),
  workers: z.strictObject({ bundledeployment: workerCount.optional(), drift: workerCount.optional() }).optional(),
  redeploy: z.int().optional(),
  deploysWorkloads: z.boolean(),
};

const fields = z.strictObject({
  ...common,
  ...agentFields,
  kubeconfig: userKubeconfig.optional(),
  context: z.string().min(1).optional(),
  render: z.boolean().optional(),
  cluster: z.strictObject({ name: label, namespace: label }).optional(),
  onOtherCluster: z.enum(['replace', 'error']),
});

export const agentInputs = fields.superRefine((inputs, context) => {
  const { kubeconfig, context: chosen, render, awaitReady, cluster } = inputs;
  const issue = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
  if (render !== true) {
    if (kubeconfig === undefined) issue('kubeconfig', 'is missing; for a cluster out of reach set render to true');
    return;
  }
  const elsewhere = 'has no use with render: somebody else applies the manifest';
  for (const [key, value] of Object.entries({ kubeconfig, context: chosen, cluster })) {
    if (value !== undefined) issue(key, elsewhere);
  }
  if (awaitReady) issue('awaitReady', `${elsewhere}; let the Cluster wait for its agent`);
});

export type AgentInputs = z.infer<typeof agentInputs>;
export type AgentFields = z.infer<z.ZodObject<typeof agentFields>>;
