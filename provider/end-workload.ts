/** Removing a Deployment so that nothing of it runs any more when its account, rights and namespace go. */
import type { ObjectKey } from '../api/resource.ts';
import { Pods } from '../api/kubernetes/core.ts';
import { Deployments } from '../api/kubernetes/workloads.ts';
import type { Deployment } from '../api/kubernetes/workloads.ts';
import { isNotFound } from '../runtime/kube/api-error.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { awaitGone } from './await-gone.ts';
import { awaitObject } from './await-object.ts';
import { fieldManager } from './fleet-object.ts';
import type { CallContext } from './handler.ts';

/**
 * Scales the Deployment to nothing, waits until its pods have ended, and deletes it. A deletion in the foreground would
 * wait for the garbage collector, which stands still for half a minute and more whenever definitions came or went.
 */
export async function endWorkload(
  client: KubeClient,
  key: ObjectKey,
  context: Pick<CallContext, 'signal'>,
): Promise<void> {
  const { signal } = context;
  let scaled: Deployment;
  try {
    scaled = await client.patch(Deployments, key, { spec: { replicas: 0 } }, { type: 'merge', fieldManager, signal });
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  await awaitObject(client, Deployments, key, hasEnded, { signal });
  await awaitNoPods(client, key.namespace ?? '', scaled.spec.selector.matchLabels ?? {}, signal);
  await client.delete(Deployments, key, { signal, propagation: 'Background' });
  await awaitGone(client, Deployments, key, undefined, context);
}

/** Pods that are being ended count in no status, so they are looked at themselves. */
async function awaitNoPods(
  client: KubeClient,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { items } = await client.list(Pods, { namespace, labelSelector, signal });
  await Promise.all(
    items.map(({ metadata: { name = '', uid } }) => awaitGone(client, Pods, { namespace, name }, uid, { signal })),
  );
}

/** Gone, being deleted by someone else, or scaled down. */
function hasEnded(deployment: Deployment | undefined): boolean {
  if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return true;
  const { observedGeneration = 0, replicas = 0 } = deployment.status ?? {};
  return observedGeneration >= (deployment.metadata.generation ?? 0) && replicas === 0;
}
