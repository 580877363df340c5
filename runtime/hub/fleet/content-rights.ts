/**
 * The right to get Contents. They have no namespace, so it takes a ClusterRoleBinding for each agent, and API servers go
 * through all of those for every request of anyone. An agent of ours, which asks again when it is refused, therefore gets
 * it when there is something to get: with the first BundleDeployment in its cluster namespace. An original agent has it
 * from the start. Keys are names of cluster namespaces.
 */
import { durations } from '../../../api/durations.ts';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { ensureObject } from '../../registration/ensure.ts';
import { clusterOf, needs, requestOf } from './caches.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { ensureOptions } from './context.ts';
import { contentRight } from './registration-grant.ts';
import { isRotating } from './registration-request.ts';
import { grantedRequests, isGrantedStill } from './registration-state.ts';

/** Whether the agent of a request is to have the right now. */
export function needsContents(
  context: Pick<HubContext, 'caches'>,
  request: ClusterRegistration,
  clusterNamespace: string,
): boolean {
  return !isRotating(request) || context.caches.deployments.list(clusterNamespace).length > 0;
}

export function createContentRights(context: HubContext): Controller {
  const { deployments, namespaces, requests, clusterBindings, clusters, serviceAccounts } = context.caches;
  const controller = createController({
    name: 'content-rights',
    concurrency: 4,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (name, { signal }) => giveContents(context, name, signal),
  });
  needs(controller, clusters, serviceAccounts);
  const clusterNamespaceOf = (request: ClusterRegistration | undefined): string[] => {
    const cluster = context.clusters.get(`${request?.metadata.namespace ?? ''}/${request?.status?.clusterName ?? ''}`);
    return cluster === undefined ? [] : [namespaceOf(cluster)];
  };
  const added = ({ type }: { type: string }): boolean => type === 'added';
  controller.watch(deployments, { predicate: added, map: ({ object }) => [object.metadata.namespace ?? ''] });
  controller.watch(namespaces, { predicate: added });
  controller.watch(requests, {
    predicate: ({ object, previous }) => object.status?.granted === true && previous?.status?.granted !== true,
    map: ({ object }) => clusterNamespaceOf(object),
  });
  // one that somebody deleted by a slip
  controller.watch(clusterBindings, {
    predicate: ({ type }) => type === 'deleted',
    map: ({ object }) => clusterNamespaceOf(context.requests.get(requestOf(object) ?? '')),
  });
  return controller;
}

async function giveContents(context: HubContext, name: string, signal: AbortSignal): Promise<void> {
  if (context.caches.deployments.list(name).length === 0) return;
  const namespace = context.namespaces.get(name);
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  const cluster = context.clusters.get(clusterOf(namespace) ?? '');
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return;
  const { registrationNamespace, systemNamespace } = context;
  for (const request of grantedRequests(context, cluster)) {
    const scope = { request, cluster, namespace, registrationNamespace, systemNamespace, contents: true };
    const right = contentRight(scope);
    if (!isRotating(request) || context.caches.clusterBindings.get(keyOf(right.object)) !== undefined) continue;
    if (await isGrantedStill(context, request, name, signal)) {
      await ensureObject(context.client, right, ensureOptions(signal));
    }
  }
}
