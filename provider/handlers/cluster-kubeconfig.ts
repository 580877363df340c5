/** The Secret on the hub that holds a Cluster's kubeconfig, and what may stand beside it. */
import { annotations, secretKeys, secretTypes } from '../../api/fleet/constants.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { fieldManager, isOurs, requireOwner } from '../fleet-object.ts';
import type { CallContext } from '../handler.ts';
import { kubeconfigSecretName } from './cluster-inputs.ts';
import type { ClusterInputs } from './cluster-inputs.ts';

/** What the state knows of the Secret. */
export type KubeconfigState = Pick<ClusterInputs, 'metadata' | 'kubeconfig' | 'owner'>;

const keyFor = (inputs: KubeconfigState): { namespace: string; name: string } => ({
  namespace: inputs.metadata.namespace,
  name: kubeconfigSecretName(inputs),
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Writes the Secret, or removes it when the Cluster has no kubeconfig any more. */
export async function applyKubeconfig(
  client: KubeClient,
  inputs: ClusterInputs,
  olds: KubeconfigState | undefined,
  owners: readonly string[],
  context: CallContext,
): Promise<void> {
  if (inputs.kubeconfig === undefined) {
    if (olds?.kubeconfig !== undefined) await deleteKubeconfig(client, olds, context);
    return;
  }
  const key = keyFor(inputs);
  requireOwner(Secrets, await client.find(Secrets, key, context), owners);
  const data: Record<string, string> = { [secretKeys.kubeconfig]: base64(inputs.kubeconfig) };
  if (inputs.apiServerURL !== undefined) data[secretKeys.apiServerURL] = base64(inputs.apiServerURL);
  if (inputs.apiServerCA !== undefined) data[secretKeys.apiServerCA] = base64(inputs.apiServerCA);
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, annotations: { [annotations.owner]: inputs.owner } },
    type: secretTypes.opaque,
    data,
  };
  await client.apply(Secrets, secret, { fieldManager, signal: context.signal });
}

/** The kubeconfig as the hub has it; undefined when the Cluster has none, or its Secret is gone. */
export async function readKubeconfig(
  client: KubeClient,
  olds: KubeconfigState,
  context: CallContext,
): Promise<string | undefined> {
  if (olds.kubeconfig === undefined) return undefined;
  const value = (await client.find(Secrets, keyFor(olds), context))?.data?.[secretKeys.kubeconfig];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString();
}

/** Removes the Secret if it is ours; the Cluster must be gone, because the hub reaches the agent through it. */
export async function deleteKubeconfig(client: KubeClient, olds: KubeconfigState, context: CallContext): Promise<void> {
  if (olds.kubeconfig === undefined) return;
  const key = keyFor(olds);
  const found = await client.find(Secrets, key, context);
  if (found !== undefined && isOurs(found, undefined, olds.owner)) await client.delete(Secrets, key, context);
}
