/** Inputs of `Cluster`, their schema, and the object that they mean. */
import { z } from 'zod';
import { agentFields } from '../../api/fleet/agent-settings.ts';
import { clusterSpec } from '../../api/fleet/cluster.ts';
import { apiVersion } from '../../api/fleet/constants.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { given } from '../../api/given.ts';
import { agentSettings } from '../agent-settings.ts';
import { wantedMetadata } from '../fleet-object.ts';
import { common, hubKubeconfig, label, metadata } from '../inputs.ts';

const spec = clusterSpec.shape;

export const clusterInputs = z
  .strictObject({
    ...common,
    metadata,
    kubeconfig: hubKubeconfig.optional(),
    kubeconfigSecret: z.strictObject({ name: label, namespace: label.optional() }).optional(),
    apiServerURL: z
      .url({ protocol: /^https?$/, error: 'must be a URL such as https://hub.example.com:6443' })
      .optional(),
    apiServerCA: z.string().includes('-----BEGIN CERTIFICATE-----', 'must be certificates in PEM').optional(),
    clientID: z.string().min(1).max(253).optional(),
    agentSettings: agentSettings.optional(),
    redeploy: spec.redeployAgentGeneration,
    paused: spec.paused,
    templateValues: z.record(z.string(), z.unknown()).optional(),
    onOtherCluster: z.enum(['replace', 'error']),
  })
  .superRefine((inputs, context) => {
    const { kubeconfig, kubeconfigSecret, apiServerURL, apiServerCA, redeploy } = inputs;
    if (kubeconfig !== undefined && kubeconfigSecret !== undefined) {
      context.addIssue({ code: 'custom', path: ['kubeconfigSecret'], message: 'give either this or kubeconfig' });
    }
    for (const [key, value] of Object.entries({ apiServerURL, apiServerCA })) {
      if (value === undefined || kubeconfig !== undefined) continue;
      context.addIssue({ code: 'custom', path: [key], message: 'is kept beside the kubeconfig: it needs kubeconfig' });
    }
    if (redeploy !== undefined && kubeconfig === undefined && kubeconfigSecret === undefined) {
      const message = 'needs a kubeconfig: an agent that registered itself is not installed by the hub';
      context.addIssue({ code: 'custom', path: ['redeploy'], message });
    }
  });

export type ClusterInputs = z.infer<typeof clusterInputs>;

/** Name of the Secret that holds the kubeconfig; the same as Cluster API's. */
export function kubeconfigSecretName(inputs: Pick<ClusterInputs, 'metadata'>): string {
  return `${inputs.metadata.name}-kubeconfig`;
}

/** The object to apply. Fields that are not given stay the hub's or anybody else's. */
export function clusterObject(inputs: ClusterInputs): Cluster {
  const secret =
    inputs.kubeconfig === undefined
      ? inputs.kubeconfigSecret
      : { name: kubeconfigSecretName(inputs), namespace: undefined };
  const wanted = given({
    paused: inputs.paused,
    clientID: secret === undefined || inputs.clientID ? inputs.clientID : undefined,
    kubeConfigSecret: secret?.name,
    kubeConfigSecretNamespace: secret?.namespace,
    redeployAgentGeneration: inputs.redeploy,
    ...agentFields(inputs.agentSettings ?? {}),
    templateValues: inputs.templateValues,
  });
  return {
    apiVersion,
    kind: 'Cluster',
    metadata: wantedMetadata(inputs),
    spec: wanted as NonNullable<Cluster['spec']>,
  };
}
