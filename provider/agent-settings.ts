/** Schema of the input `agentSettings`: the agent's workload, in the words of a Cluster's spec. */
import { z } from 'zod';
import { clusterSpec } from '../api/fleet/cluster.ts';
import { label } from './inputs.ts';

const spec = clusterSpec.shape;

export const agentSettings = z.strictObject({
  namespace: label.optional(),
  envVars: spec.agentEnvVars.unwrap().unwrap().optional(),
  tolerations: spec.agentTolerations.unwrap().unwrap().optional(),
  affinity: spec.agentAffinity.unwrap().unwrap().optional(),
  resources: spec.agentResources.unwrap().unwrap().optional(),
  schedulingCustomization: spec.agentSchedulingCustomization.unwrap().unwrap().optional(),
  imagePullSecrets: z.array(z.string().min(1)).optional(),
  hostNetwork: z.boolean().optional(),
  privateRepoURL: z.string().min(1).optional(),
});

export type AgentSettingsInputs = z.infer<typeof agentSettings>;
