/**
 * The bare API's ceiling: the writes that our hub makes for a request, built by the hub's own functions, with its
 * identity, order and parallelism, but without caches, queues or controllers. A hub cannot be faster than this.
 */
import { annotations, labels } from '../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../api/fleet/kinds.ts';
import { ClusterRegistrations, Clusters } from '../api/fleet/kinds.ts';
import { autoClusterName, clusterNamespace, randomToken } from '../api/fleet/names.ts';
import { Namespaces } from '../api/kubernetes/core.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { managedLabels } from '../runtime/hub/fleet/context.ts';
import { clusterStatus } from '../runtime/hub/fleet/cluster-status.ts';
import { isTold } from '../runtime/hub/fleet/cluster-view.ts';
import type { CredentialReaders } from '../runtime/hub/fleet/credential-readers.ts';
import { createCredentialReaders } from '../runtime/hub/fleet/credential-readers.ts';
import { accountOf, answer, answerName, grantRights } from '../runtime/hub/fleet/registration-grant.ts';
import { grantedStatus } from '../runtime/hub/fleet/registration-report.ts';
import { difference } from '../runtime/hub/fleet/status-writer.ts';
import { rotatingPlan } from '../runtime/registration/credential.ts';
import { requestOf } from './request.ts';
import { type Target, answersNamespace, systemNamespace, workspace } from './target.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';

/** Registrations per second, from the first request to the last credential. */
export async function bareRegistrations(target: Target, count: number, workers: number): Promise<number> {
  const { hub, admin } = target;
  const readers = bareReaders(hub);
  const reader = { namespace: workspace, name: `bench-ceiling-${randomToken(8)}` };
  await readers.prepare(reader);
  const start = performance.now();
  let last = start;
  await inParallel(count, workers, async () => {
    const request = await admin.create(ClusterRegistrations, requestOf(elsewhere));
    const name = autoClusterName(request.spec?.clientID ?? '');
    const cluster = await hub.create(Clusters, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name, namespace: workspace, labels: elsewhere },
      spec: { clientID: request.spec?.clientID ?? '' },
    });
    const { finish } = await bareGrant(hub, request, cluster, (secret) => readers.allow(reader, secret));
    last = performance.now();
    await finish();
  });
  return (count * 1000) / (last - start);
}

/** Who may read which answer, with nothing known before. */
export function bareReaders(hub: KubeClient): CredentialReaders {
  const none = { list: () => [], byIndex: () => [] };
  return createCredentialReaders(hub, answersNamespace, { readerRoles: none, bindings: none });
}

/** As the hub's own writer does it: only what is not so yet. */
export async function bareStatus<T extends KubeObject & { status?: object }>(
  client: KubeClient,
  type: ResourceType<T>,
  before: T,
  wanted: NonNullable<T['status']>,
): Promise<T> {
  const { uid, namespace = '', name = '' } = before.metadata;
  const body = { metadata: { uid }, status: difference(before.status, wanted) };
  return await client.patch(type, { namespace, name }, body, { type: 'merge', subresource: 'status' });
}

/** All that a request is granted, until its agent can read the answer, which holds `token`. */
export async function bareGrant(
  hub: KubeClient,
  request: ClusterRegistration,
  cluster: Cluster,
  allow: (secretName: string) => Promise<void>,
): Promise<{ token: string; granted: Cluster; finish: () => Promise<void> }> {
  const { name = '' } = cluster.metadata;
  const namespace = await hub.create(Namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: clusterNamespace(workspace, name),
      labels: { ...managedLabels },
      annotations: { [annotations.clusterNamespace]: workspace, [annotations.cluster]: name },
    },
  });
  const place = { namespace, registrationNamespace: answersNamespace, systemNamespace, contents: false };
  const scope = { request, cluster, ...place };
  const account = accountOf(scope);
  await Promise.all(grantRights(scope).map(({ type, object }) => hub.create(type, object)));
  const status = clusterStatus(
    cluster,
    { namespace: account.namespace, registration: { state: 'granted' }, liveness: { state: 'never' } },
    new Date(),
  );
  const [{ token }, granted] = await Promise.all([
    hub.createToken(account, { expirationSeconds: Math.ceil(rotatingPlan.wantedMs / 1000) }),
    // one that has a status is told with its agent's first report
    isTold(cluster) ? cluster : bareStatus(hub, Clusters, cluster, status),
  ]);
  const { type, object } = answer(scope, { token });
  await Promise.all([hub.create(type, object), allow(answerName(request))]);
  const finish = async (): Promise<void> => {
    await bareStatus(hub, ClusterRegistrations, request, grantedStatus(request, name));
  };
  return { token, granted, finish };
}

/** Tells any hub that runs that these objects are another one's affair. */
export const elsewhere = { [labels.clusterManagement]: 'bench' };
