/** The hub's own cluster as one of its clusters (Fleet: bootstrap): Cluster `local`, ClusterGroup `default`, GitRepo `bootstrap`. */
import { createHash } from 'node:crypto';
import { durations } from '../../../api/durations.ts';
import { annotations, defaults } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterGroup } from '../../../api/fleet/kinds.ts';
import { ClusterGroups, Clusters } from '../../../api/fleet/kinds.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import { keyOf } from '../../../api/resource.ts';
import type { LocalBootstrap } from '../../../components/fleet/local-agent.ts';
import { localBootstrap } from '../../../components/fleet/local-agent.ts';
import { hubNames } from '../../../components/fleet/names.ts';
import { isForbidden, isNotFound } from '../../kube/api-error.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isDeleting } from '../../kube/finalizers.ts';
import { ensureRepo } from './bootstrap-repo.ts';
import { needs } from './caches.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager, managedLabels } from './context.ts';

const apiVersion = 'fleet.cattle.io/v1alpha1';
const groupName = 'default';
const selector = { matchLabels: { name: defaults.localCluster } };

export function createBootstrapController(context: HubContext): Controller {
  const { clusters, groups, config } = context.caches;
  const controller = createController({
    name: 'bootstrap',
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast },
    reconcile: async (_key, { signal }) => await bootstrap(context, signal),
  });
  needs(controller, clusters, groups);
  const always = (): string[] => [defaults.localCluster];
  controller.watch(config, { map: always });
  controller.watch(clusters, {
    predicate: ({ type, object }) => type === 'deleted' && object.metadata.name === defaults.localCluster,
    map: always,
  });
  return controller;
}

async function bootstrap(context: HubContext, signal: AbortSignal): Promise<void> {
  const local = localBootstrap(context.config.current);
  if (local === undefined) return;
  try {
    await ensureLocalCluster(context, local, signal);
    await ensureGroup(context, local, signal);
    await ensureRepo(context, local, signal);
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) {
      const message =
        `the hub's own cluster cannot be registered in ${local.namespace}: ${error.message}. ` +
        'Apply the manifests that are made for a hub with this bootstrap configuration.';
      const map = context.caches.config.list()[0];
      if (map !== undefined) context.events.event(map, 'Warning', 'BootstrapFailed', message);
    }
    throw error;
  }
}

/**
 * Applied when the settings change and not otherwise: what a user changes in the Cluster stays until then (fleet#5352,
 * fleet#2725).
 */
async function ensureLocalCluster(context: HubContext, local: LocalBootstrap, signal: AbortSignal): Promise<void> {
  const key = { namespace: local.namespace, name: defaults.localCluster };
  const known = context.clusters.get(keyOf(key));
  if (known !== undefined && isDeleting(known)) return; // its end is an event
  const wanted: Cluster = {
    apiVersion,
    kind: 'Cluster',
    metadata: { ...key, labels: { ...local.labels, name: defaults.localCluster } },
    spec: { agentNamespace: local.agentNamespace, agentTolerations: await ownTolerations(context, signal) },
  };
  const hash = createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 32);
  if (known?.metadata.annotations?.[annotations.appliedHash] === hash) return;
  const noted = { ...wanted, metadata: { ...wanted.metadata, annotations: { [annotations.appliedHash]: hash } } };
  const stored = await context.client.apply(Clusters, noted, { fieldManager: `${hubFieldManager}-bootstrap`, signal });
  context.clusters.remember(stored);
}

type Tolerations = NonNullable<NonNullable<Cluster['spec']>['agentTolerations']>;

/** Where the hub may run, its agent may: they share a cluster (Fleet: tolerations of the controller). */
async function ownTolerations({ client, systemNamespace }: HubContext, signal: AbortSignal): Promise<Tolerations> {
  const key = { namespace: systemNamespace, name: hubNames.deployment };
  const found = await client.find(Deployments, key, { signal });
  const { tolerations = [] } = (found?.spec.template.spec ?? {}) as { tolerations?: Tolerations };
  return tolerations;
}

async function ensureGroup(context: HubContext, { namespace }: LocalBootstrap, signal: AbortSignal): Promise<void> {
  const known = context.caches.groups.get(`${namespace}/${groupName}`);
  if (known !== undefined) return;
  const wanted: ClusterGroup = {
    apiVersion,
    kind: 'ClusterGroup',
    metadata: { name: groupName, namespace, labels: { ...managedLabels } },
    spec: { selector },
  };
  await context.client.apply(ClusterGroups, wanted, { fieldManager: `${hubFieldManager}-bootstrap`, signal });
}
