/** ClusterGroups: how many Clusters they select, and which of those are not ready. */
import { conditionTypes, isTrue } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import type { Cluster, ClusterGroup, ClusterGroupStatus } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import { isNotFound } from '../../kube/api-error.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import type { HubContext } from './context.ts';
import type { StatusWriter } from './status-writer.ts';
import type { LabelSelector } from './label-selector.ts';
import { selects } from './label-selector.ts';

/** Names that are listed in status at most (Fleet: nonReadyClusters). */
const listed = 10;

export function createGroupController(context: HubContext, status: StatusWriter<ClusterGroup>): Controller {
  const { groups, clusters } = context.caches;
  const controller = createController({
    name: 'group',
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast },
    async reconcile(key, { signal }) {
      try {
        await status.update(key, (group) => groupStatus(group, clusters.list(group.metadata.namespace)), signal);
      } catch (error) {
        // a rule removes its groups with their last cluster
        if (!isNotFound(error)) throw error;
      }
    },
  });
  controller.watch(groups, {
    predicate: ({ type, object, previous }) =>
      type === 'added' || (type === 'updated' && previous?.metadata.generation !== object.metadata.generation),
  });
  controller.watch(clusters, {
    // heartbeats change neither labels nor readiness
    predicate: ({ type, object, previous }) =>
      type !== 'updated' ||
      JSON.stringify(previous?.metadata.labels) !== JSON.stringify(object.metadata.labels) ||
      ready(previous) !== ready(object),
    map: ({ object }) =>
      groups
        .list(object.metadata.namespace)
        .filter((group) => selects(group.spec?.selector as LabelSelector | undefined, object.metadata.labels ?? {}))
        .map(keyOf),
  });
  return controller;
}

function ready(cluster: Cluster | undefined): boolean {
  return isTrue(cluster?.status?.conditions, conditionTypes.ready);
}

/** Pure: counts over all Clusters of the group's namespace. */
export function groupStatus(group: ClusterGroup, clusters: readonly Cluster[]): ClusterGroupStatus {
  const selector = group.spec?.selector as LabelSelector | undefined;
  const members = clusters.filter(({ metadata }) => selects(selector, metadata.labels ?? {}));
  const notReady = members.filter((cluster) => !ready(cluster)).map(({ metadata }) => metadata.name ?? '');
  const { nonReadyClusters: _, ...rest } = group.status ?? {};
  return {
    ...rest,
    clusterCount: members.length,
    nonReadyClusterCount: notReady.length,
    ...(notReady.length === 0 ? {} : { nonReadyClusters: notReady.sort().slice(0, listed) }),
  };
}
