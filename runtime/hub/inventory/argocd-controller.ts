/** Registered Clusters as cluster Secrets of Argo CD, where the configuration asks for it (inventory.argoCD). */
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, findCondition, isTrue, reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { changed } from '../../kube/predicates.ts';
import { indexes, kubeconfigKey, needs } from '../fleet/caches.ts';
import type { HubContext } from '../fleet/context.ts';
import { ImportFault } from '../fleet/edge-kubeconfig.ts';
import { isLocal } from '../fleet/local-cluster.ts';
import type { Outside } from '../fleet/slots.ts';
import { createSlots } from '../fleet/slots.ts';
import { sourceMarks } from '../fleet/source-marks.ts';
import type { ArgoCDPlan, ArgoCDPublisher } from './argocd-publisher.ts';
import { ownCluster } from './argocd-publisher.ts';
import type { ArgoCDRecord } from './argocd-record.ts';
import { recordOf } from './argocd-record.ts';
import { clearArgoCD, reportArgoCD } from './argocd-report.ts';
import type { ArgoCDSettings } from './argocd-settings.ts';
import { settingsFor, settingsRevision } from './argocd-settings.ts';

/**
 * A Secret that may not be deleted is left after so many tries, some minutes: manifests that are made without the option
 * take the hub's right with them, and the credential has been revoked downstream by then.
 */
const withdrawTries = 8;

/** What the controller shares with the end of Clusters. */
export interface ArgoCDWork {
  readonly hub: HubContext;
  readonly publisher: ArgoCDPublisher;
  /** Clusters (`namespace/name`) that are being published or withdrawn right now. */
  readonly busy: Set<string>;
}

export function createArgoCDController(work: ArgoCDWork): Controller {
  const { hub } = work;
  const { clusters, config } = hub.caches;
  /** Clusters that went without their finalizer, as they were. */
  const gone = new Map<string, Cluster>();
  const slots = createSlots(16);
  const controller = createController({
    name: 'argo-cd',
    // all that wait for an answer do it side by side, and good ones pass between the broken ones
    concurrency: 1024,
    backoff: { baseMs: durations.importRetryFirst, maxMs: durations.importRetryLast, jitter: 0.2 },
    reconcile: (key, reconcile) =>
      slots.run((outside) => reconcileArgoCD(work, gone, key, outside, reconcile), reconcile.signal),
  });
  needs(controller, config);
  const concerns = (cluster: Cluster): boolean =>
    hub.config.current.inventory?.argoCD !== undefined || conditionOf(cluster) !== undefined;
  const relevant = changed((object) => considered(object as Cluster));
  controller.watch(clusters, {
    predicate: (event) => {
      const { type, object } = event;
      if (type === 'deleted' && recordOf(object) !== undefined) gone.set(keyOf(object), object);
      return concerns(object) && relevant(event);
    },
  });
  hub.secrets.subscribe(({ object, initial }) => {
    if (initial) return;
    for (const cluster of clusters.byIndex(indexes.kubeconfig, keyOf(object))) {
      if (concerns(cluster)) controller.enqueue(keyOf(cluster));
    }
  });
  hub.config.onChange((now, before) => {
    const parts = [now, before].map(({ inventory, agentTLSMode }) => JSON.stringify([inventory?.argoCD, agentTLSMode]));
    if (parts[0] !== parts[1]) for (const cluster of clusters.list()) controller.enqueue(keyOf(cluster));
  });
  return controller;
}

/** All of a Cluster that a publication depends on, and the record of it, which somebody may take away. */
function considered(cluster: Cluster): unknown[] {
  const { metadata, spec, status } = cluster;
  return [
    [metadata.uid, metadata.labels, metadata.deletionTimestamp],
    [spec?.kubeConfigSecret, spec?.kubeConfigSecretNamespace, spec?.redeployAgentGeneration, sourceMarks(cluster)],
    isTrue(status?.conditions, conditionTypes.registered),
    recordOf(cluster),
  ];
}

function conditionOf({ status }: Cluster): Condition | undefined {
  return findCondition(status?.conditions, conditionTypes.argoCDPublished);
}

async function reconcileArgoCD(
  work: ArgoCDWork,
  gone: Map<string, Cluster>,
  key: string,
  outside: Outside,
  { signal, logger, attempt }: ReconcileContext,
): Promise<Result | void> {
  const { hub, publisher, busy } = work;
  const cluster = hub.clusters.get(key);
  if (cluster === undefined) return await removeLeft(work, gone, key, signal, logger);
  if (isDeleting(cluster)) return; // its detachment takes everything back
  const settings = settingsFor(hub.config.current, cluster);
  if (settings === 'suspended') return;
  busy.add(key);
  try {
    if (settings !== undefined) return await publish(work, cluster, settings, outside, signal);
    const record = recordOf(cluster);
    if (record === undefined) return await clearArgoCD(hub, key, signal);
    await outside(() => publisher.withdraw(cluster, record, { skipEdge: false }, signal));
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error;
    const { reason, message, final } = error;
    const latest = hub.clusters.get(key) ?? cluster;
    const hopeless = final || (reason === reasons.rightsMissing && attempt >= withdrawTries);
    if (settings === undefined && hopeless) {
      hub.events.event(latest, 'Warning', reason, `something of Argo CD was left: ${message}`);
      return await clearArgoCD(hub, key, signal);
    }
    await reportArgoCD(hub, key, { status: 'False', reason, message }, recordOf(latest), signal);
    if (!final) throw error;
  } finally {
    busy.delete(key);
    // its detachment may be waiting for this
    if (isDeleting(hub.clusters.get(key) ?? cluster)) hub.enqueueCluster(key);
  }
}

async function publish(
  { hub, publisher }: ArgoCDWork,
  cluster: Cluster,
  settings: ArgoCDSettings,
  outside: Outside,
  signal: AbortSignal,
): Promise<Result | void> {
  const record = recordOf(cluster);
  const registered = isTrue(cluster.status?.conditions, conditionTypes.registered);
  if (!registered && record === undefined) return;
  const where = kubeconfigKey(cluster);
  if (where === undefined) {
    // a Cluster may lose its kubeconfig; what was made with it ends with its token
    if (record !== undefined) await publisher.withdraw(cluster, record, { skipEdge: true }, signal);
    throw isLocal(hub, cluster) ? ownCluster() : noKubeconfig();
  }
  const revision = await revisionNow(hub, cluster, settings, where, signal);
  const plan = { settings, revision };
  if (isDue(record, plan, Date.now())) await publisher.publish(cluster, plan, outside, signal);
  return { requeueAfterMs: renewalIn(recordOf(hub.clusters.get(keyOf(cluster)) ?? cluster)) };
}

async function revisionNow(
  hub: HubContext,
  cluster: Cluster,
  settings: ArgoCDSettings,
  kubeconfig: string,
  signal: AbortSignal,
): Promise<string> {
  // at the hub's start nothing is known of Secrets yet
  await hub.secrets.whenOpen(parseKey(kubeconfig).namespace ?? '', signal);
  const { uid = '', resourceVersion = '' } = hub.secrets.get(kubeconfig)?.metadata ?? {};
  const tlsMode = hub.config.current.agentTLSMode;
  return settingsRevision(settings, cluster, {
    kubeconfig: [kubeconfig, uid, resourceVersion, ...sourceMarks(cluster)],
    tlsMode,
  });
}

/** Whether what was published is another than it should be, or old. */
function isDue(record: ArgoCDRecord | undefined, { settings, revision }: ArgoCDPlan, nowMs: number): boolean {
  if (record?.content === undefined || record.namespace !== settings.namespace) return true;
  return record.content.revision !== revision || record.content.renewMs <= nowMs;
}

function renewalIn(record: ArgoCDRecord | undefined): number {
  const remainingMs = (record?.content?.renewMs ?? 0) - Date.now();
  return Math.min(Math.max(remainingMs, durations.argoCDRenewalLeast), durations.resync);
}

function noKubeconfig(): ImportFault {
  const message =
    'the cluster was registered by its agent and the hub has no kubeconfig of it, so it can make no credential there; ' +
    'set spec.kubeConfigSecret to have it published';
  return new ImportFault(reasons.noKubeconfig, message, true);
}

/** As far as that is possible for a Cluster that is gone: nobody would be told of what is left. */
async function removeLeft(
  { hub, publisher }: ArgoCDWork,
  gone: Map<string, Cluster>,
  key: string,
  signal: AbortSignal,
  logger: ReconcileContext['logger'],
): Promise<Result | void> {
  const cluster = gone.get(key);
  const record = cluster && recordOf(cluster);
  if (cluster === undefined || record === undefined) return;
  if ((await hub.client.find(Clusters, parseKey(key), { signal })) !== undefined) return;
  gone.delete(key);
  try {
    await publisher.withdraw(cluster, record, { skipEdge: kubeconfigKey(cluster) === undefined }, signal);
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error;
    logger.warn({ reason: error.message }, 'a credential of Argo CD was left downstream');
  }
}
