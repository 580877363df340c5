/** Inputs of `AgentRelease`, their schema, and the manifests that they mean. */
import { z } from 'zod';
import { defaults } from '../../api/fleet/constants.ts';
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import type { KubeObject } from '../../api/resource.ts';
import { synthAgent } from '../../components/fleet/index.ts';
import type { AgentProps } from '../../components/fleet/index.ts';
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

export const agentInputs = z.strictObject({
  ...common,
  kubeconfig: userKubeconfig,
  context: z.string().min(1).optional(),
  values,
  image: z.string().min(1),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  imagePullSecrets: z.array(z.string().min(1)).optional(),
  replicas: z.int().min(0).max(9).optional(),
  clientID: z.string().min(1).max(253).optional(),
  labels: metadata.shape.labels,
  agentSettings: agentSettings.optional(),
  checkinInterval: duration.optional(),
  agentTLSMode: z.enum(['system-store', 'strict']).optional(),
  deploysWorkloads: z.boolean(),
  cluster: z.strictObject({ name: label, namespace: label }).optional(),
  onOtherCluster: z.enum(['replace', 'error']),
});

export type AgentInputs = z.infer<typeof agentInputs>;

/** The agent's manifests; the Secret with the token is among them only `withBootstrap`. */
export function agentManifests(inputs: AgentInputs, withBootstrap: boolean): KubeObject[] {
  const { image, imagePullPolicy, imagePullSecrets, replicas, clientID, labels } = inputs;
  const { checkinInterval, agentTLSMode, deploysWorkloads } = inputs;
  const { namespace = defaults.agentNamespace, ...settings } = inputs.agentSettings ?? {};
  const props: Record<string, unknown> = {
    ...settings,
    namespace,
    // As the hub does for `spec.agentNamespace`: an agent in a namespace of its own keeps to its own releases.
    agentScope: inputs.agentSettings?.namespace,
    image,
    imagePullPolicy,
    imagePullSecrets,
    replicas,
    clientID,
    labels,
    checkinInterval,
    agentTLSMode,
    deploysWorkloads,
    bootstrap: withBootstrap ? parseValues(inputs.values) : undefined,
  };
  const given = Object.fromEntries(Object.entries(props).filter(([, value]) => value !== undefined));
  return synthAgent(given as unknown as AgentProps);
}
