/**
 * Rights of granted requests that somebody deleted: made again, so that an agent does not stay locked out by a slip.
 * Who wants an agent out deletes its ClusterRegistration or its account; neither is brought back. Keys are
 * `namespace/name` of ClusterRegistrations.
 */
import { durations } from '../../../api/durations.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import type { Namespace } from '../../../api/kubernetes/core.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { ensureObject } from '../../registration/ensure.ts';
import { needs, requestOf } from './caches.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { ensureOptions } from './context.ts';
import { accountKey, grantRights } from './registration-grant.ts';
import { isRotating } from './registration-request.ts';
import { isGranted, isGrantedStill } from './registration-state.ts';

export function createRepairController(context: HubContext): Controller {
  const { bindings, clusterBindings, requests } = context.caches;
  const controller = createController({
    name: 'repair',
    concurrency: 4,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (key, { signal }) => repair(context, key, signal),
  });
  needs(controller, context.caches.clusters, context.caches.namespaces, context.caches.serviceAccounts);
  const ofRequest = ({ object }: { object: KubeObject }): string[] => {
    const key = requestOf(object);
    return key === undefined ? [] : [key];
  };
  controller.watch(bindings, { predicate: ({ type }) => type === 'deleted', map: ofRequest });
  controller.watch(clusterBindings, { predicate: ({ type }) => type === 'deleted', map: ofRequest });
  // what was deleted while no hub was there
  controller.watch(requests, {
    predicate: ({ type, object, initial }) => type === 'added' && initial && isGranted(object),
  });
  return controller;
}

async function repair(context: HubContext, key: string, signal: AbortSignal): Promise<void> {
  const request = context.requests.get(key);
  if (request === undefined || !isGranted(request)) return;
  const cluster = context.clusters.get(`${request.metadata.namespace ?? ''}/${request.status?.clusterName ?? ''}`);
  if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return;
  const namespace = context.namespaces.get(namespaceOf(cluster));
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  const account = accountKey(request, namespaceOf(cluster));
  if (context.serviceAccounts.get(account) === undefined) return;
  const missing = missingRights(context, request, cluster, namespace);
  if (missing.length === 0) return;
  if (!(await isGrantedStill(context, request, namespaceOf(cluster), signal))) return;
  await Promise.all(missing.map((entry) => ensureObject(context.client, entry, ensureOptions(signal))));
  const names = missing.map(({ object }) => `${object.kind ?? ''} ${keyOf(object)}`).join(', ');
  context.events.event(request, 'Warning', 'RightsRestored', `were deleted and made again: ${names}`);
}

function missingRights(context: HubContext, request: ClusterRegistration, cluster: Cluster, namespace: Namespace) {
  const { registrationNamespace, systemNamespace, caches } = context;
  // what comes later than the registration is looked after by content-rights.ts
  const contents = !isRotating(request);
  const rights = grantRights({ request, cluster, namespace, registrationNamespace, systemNamespace, contents });
  const known: Record<string, (key: string) => unknown> = {
    RoleBinding: (key) => caches.bindings.get(key),
    ClusterRoleBinding: (key) => caches.clusterBindings.get(key),
  };
  return rights.filter(({ type, object }) => {
    const find = known[type.kind];
    return find !== undefined && find(keyOf(object)) === undefined;
  });
}
