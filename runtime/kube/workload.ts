/** Whether a Deployment runs in its newest form, and telling from its pods and Events why it does not. */
import type { Pod } from '../../api/kubernetes/core.ts';
import { Pods } from '../../api/kubernetes/core.ts';
import type { Deployment } from '../../api/kubernetes/workloads.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import type { CallOptions, KubeClient } from './client.ts';

/** An event, as far as it is read here. */
interface EventObject extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly uid?: string };
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime?: string };
}

const Events: ResourceType<EventObject> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

/** Every replica is of the newest generation and available. */
export function isAvailable(deployment: Deployment | undefined): boolean {
  if (deployment === undefined) return false;
  const { metadata, spec, status } = deployment;
  const replicas = spec.replicas ?? 1;
  return (
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status?.updatedReplicas ?? 0) >= replicas &&
    (status?.availableReplicas ?? 0) >= replicas &&
    (status?.replicas ?? 0) <= replicas
  );
}

/** In words. What may not be read is left out. */
export async function whyNotAvailable(
  client: KubeClient,
  deployment: Deployment,
  options: CallOptions = {},
): Promise<string> {
  const labels = Object.entries(deployment.spec.selector.matchLabels ?? {});
  const labelSelector = labels.map(([key, value]) => `${key}=${value}`).join(',');
  const { namespace = '' } = deployment.metadata;
  const pods = await client.list(Pods, { namespace, labelSelector, ...options }).catch(() => undefined);
  const told = (pods?.items ?? []).map(podProblem).filter((text) => text !== undefined);
  const warning = await lastWarning(client, deployment, pods?.items ?? [], options);
  if (warning !== undefined && !told.some((text) => text.includes(warning.note))) {
    told.push(`${warning.reason}: ${warning.note}`);
  }
  if (told.length > 0) return told.join('; ');
  const condition = deployment.status?.conditions?.find(
    ({ type, status }) =>
      (type === 'ReplicaFailure' && status === 'True') || (type !== 'ReplicaFailure' && status === 'False'),
  );
  if (condition !== undefined) return `${condition.type}: ${condition.reason ?? ''} ${condition.message ?? ''}`.trim();
  return deployment.status?.observedGeneration === undefined
    ? 'no controller has taken up the Deployment'
    : 'its pods have not started';
}

/** What the workload itself, or its node, has said last: an agent tells there why it cannot register. */
async function lastWarning(
  client: KubeClient,
  deployment: Deployment,
  pods: readonly Pod[],
  options: CallOptions,
): Promise<{ reason: string; note: string } | undefined> {
  const { namespace = '', uid } = deployment.metadata;
  const uids = new Set([uid, ...pods.map(({ metadata }) => metadata.uid)]);
  const fieldSelector = 'type=Warning';
  const events = await client.list(Events, { namespace, fieldSelector, ...options }).catch(() => undefined);
  const times = ({ series, eventTime, metadata }: EventObject): string =>
    series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp ?? '';
  const found = (events?.items ?? [])
    .filter(({ regarding }) => uids.has(regarding?.uid))
    .sort((a, b) => (times(a) < times(b) ? -1 : 1))
    .at(-1);
  return found === undefined ? undefined : { reason: found.reason ?? 'Warning', note: found.note ?? '' };
}

/** `pod x: ImagePullBackOff: …`; undefined for a pod that is fine. */
function podProblem(pod: Pod): string | undefined {
  const name = `pod ${pod.metadata.name ?? ''}`;
  for (const { ready, restartCount, state } of pod.status?.containerStatuses ?? []) {
    if (ready) continue;
    const stopped = state?.waiting ?? state?.terminated;
    if (stopped?.reason) return `${name}: ${stopped.reason}${stopped.message ? `: ${stopped.message}` : ''}`;
    return `${name}: its container is not ready (restarts: ${restartCount})`;
  }
  const unmet = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return unmet === undefined ? undefined : `${name}: ${unmet.reason ?? 'not scheduled'}: ${unmet.message ?? ''}`;
}
