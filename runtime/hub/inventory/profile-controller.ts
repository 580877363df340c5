/** Registered Clusters as ClusterProfiles of SIG Multicluster, in their workspace and under their name. */
import { conditionTypes, isTrue } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { labels } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import type { Namespace } from '../../../api/kubernetes/core.ts';
import { labels as multicluster } from '../../../api/multicluster/constants.ts';
import type { ClusterProfile } from '../../../api/multicluster/kinds.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import type { OptionalCache } from '../../kube/optional-cache.ts';
import { changed } from '../../kube/predicates.ts';
import { indexes, needs } from '../fleet/caches.ts';
import type { HubContext } from '../fleet/context.ts';
import type { Overlay } from '../fleet/overlay.ts';
import { createOverlay } from '../fleet/overlay.ts';
import type { AccessReader } from './access-providers.ts';
import { createAccessReader } from './access-providers.ts';
import { isOurProfile, isSourceOf } from './profile-change.ts';
import { clearProfileFault, reportProfileFault } from './profile-report.ts';
import { ForeignProfile, removeProfile, writeProfile } from './profile-write.ts';

/** Tries before a refusal is told, some seconds: a kind that is being uninstalled takes no new objects, and soon is gone. */
const alarmAfter = 7;

/** What the controller's parts share. */
export interface ProfileContext {
  readonly hub: HubContext;
  readonly installed: () => boolean;
  /** With the hub's own writes. */
  readonly profiles: Overlay<ClusterProfile>;
  readonly workspaces: Cache<Namespace>;
  readonly access: AccessReader;
}

/** `workspaces` are the namespaces that may hold Clusters. Where the kind is not installed nothing is done. */
export function createProfileController(
  hub: HubContext,
  cache: OptionalCache<ClusterProfile>,
  workspaces: Cache<Namespace>,
): Controller {
  const context: ProfileContext = {
    hub,
    installed: () => cache.installed,
    profiles: createOverlay(cache),
    workspaces,
    access: createAccessReader(hub),
  };
  const controller = createController({
    name: 'cluster-profile',
    concurrency: 4,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (key, reconcile) => reconcileProfile(context, key, reconcile),
  });
  const { clusters, config } = hub.caches;
  needs(controller, config);
  const enqueueAll = (): void => {
    if (cache.installed) for (const cluster of clusters.list()) controller.enqueue(keyOf(cluster));
  };
  const whatIsTold = changed((object) => told(object as Cluster));
  controller.watch(clusters, { predicate: (event) => cache.installed && whatIsTold(event) });
  controller.watch(cache, {
    predicate: ({ object }) => isOurProfile(object) || clusters.get(keyOf(object)) !== undefined,
  });
  const clusterSet = changed(({ metadata }) => metadata.labels?.[multicluster.clusterSet]);
  controller.watch(workspaces, {
    predicate: (event) => cache.installed && clusterSet(event),
    map: ({ object }) => clusters.list(object.metadata.name).map(keyOf),
  });
  hub.secrets.subscribe(({ object, initial }) => {
    if (initial || !cache.installed) return;
    const key = keyOf(object);
    for (const cluster of clusters.byIndex(indexes.kubeconfig, key)) controller.enqueue(keyOf(cluster));
    if (clusters.get(key) !== undefined) controller.enqueue(key);
  });
  hub.config.onChange((now, before) => {
    if (isOn(now.inventory) !== isOn(before.inventory)) enqueueAll();
  });
  cache.onInstalled(enqueueAll);
  return controller;
}

const isOn = (inventory: { readonly clusterProfiles?: boolean } | undefined): boolean =>
  inventory?.clusterProfiles !== false;

/** All of a Cluster that its profile tells, so that a heartbeat is no reason to look. */
function told({ metadata, spec, status }: Cluster): unknown[] {
  const conditions = (status?.conditions ?? []).filter(({ type }) =>
    ([conditionTypes.registered, conditionTypes.online] as string[]).includes(type),
  );
  return [
    metadata.uid,
    metadata.labels,
    metadata.annotations,
    metadata.deletionTimestamp,
    [spec?.kubeConfigSecret, spec?.kubeConfigSecretNamespace],
    [status?.agent?.kubernetesVersion, status?.agent?.nodes],
    conditions.map(({ status: is, reason, message }) => [is, reason, message]),
  ];
}

async function reconcileProfile(
  context: ProfileContext,
  key: string,
  { signal, attempt }: ReconcileContext,
): Promise<Result | void> {
  const { hub } = context;
  if (!context.installed()) return;
  const cluster = hub.clusters.get(key);
  const profile = context.profiles.get(key);
  if (cluster === undefined) {
    context.access.forget(key);
    return await removeLeft(context, profile, signal);
  }
  if (isDeleting(cluster) || !isOn(hub.config.current.inventory) || isManagedElsewhere(cluster)) {
    if (profile !== undefined) await removeProfile(context, profile, signal);
    return await clearProfileFault(hub, key, signal);
  }
  const registered = isTrue(cluster.status?.conditions, conditionTypes.registered);
  // once published it stays: a registration that is revoked is told by its condition
  if (!registered && (profile === undefined || !isOurProfile(profile))) return;
  if (profile !== undefined && isSourceOf(cluster, profile)) return await clearProfileFault(hub, key, signal);
  try {
    await writeProfile(context, cluster, profile, signal);
  } catch (error) {
    const foreign = error instanceof ForeignProfile;
    if (foreign || attempt >= alarmAfter) await reportProfileFault(hub, key, error, signal);
    // the end of a foreign one is an event
    if (!foreign) throw error;
    return;
  }
  await clearProfileFault(hub, key, signal);
}

function isManagedElsewhere({ metadata }: Cluster): boolean {
  return labels.clusterManagement in (metadata.labels ?? {});
}

/** A Cluster that is gone leaves nothing behind, whether a garbage collector runs or not; once its absence is confirmed. */
async function removeLeft(
  context: ProfileContext,
  profile: ClusterProfile | undefined,
  signal: AbortSignal,
): Promise<Result | void> {
  if (profile === undefined || !isOurProfile(profile)) return;
  const key = parseKey(keyOf(profile));
  if ((await context.hub.client.find(Clusters, key, { signal })) !== undefined) {
    return { requeueAfterMs: durations.hubRetryFirst };
  }
  await removeProfile(context, profile, signal);
}
