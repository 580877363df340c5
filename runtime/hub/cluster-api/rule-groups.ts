/** Groups that rules put registrations into: made with the first Cluster that has the label, removed with the last. */
import { durations } from '../../../api/durations.ts';
import { reasons } from '../../../api/conditions.ts';
import { apiVersion, labels as fleetLabels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterGroup } from '../../../api/fleet/kinds.ts';
import { ClusterGroups, Clusters } from '../../../api/fleet/kinds.ts';
import { labels } from '../../../api/muster/constants.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import type { HubContext } from '../fleet/context.ts';
import { hubFieldManager } from '../fleet/context.ts';
import { sourceOf } from './fleet-registered.ts';

/** Index of Clusters by the group that a rule put them into, `namespace/name`. */
const byGroup = 'ruleGroup';

export function createRuleGroupController(context: Pick<HubContext, 'client' | 'caches' | 'events'>): Controller {
  const { client, caches, events } = context;
  const { clusters, groups } = caches;
  clusters.addIndexers({ [byGroup]: groupOf });
  const controller = createController({
    name: 'rule-group',
    concurrency: 2,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    async reconcile(key, { signal }) {
      const members = clusters.byIndex(byGroup, key);
      const group = groups.get(key);
      const { namespace = '', name } = parseKey(key);
      if (members.length === 0) {
        if (group !== undefined && isOurs(group)) await removeEmpty(group, signal);
        return;
      }
      if (group !== undefined) {
        if (!isOurs(group)) events.event(group, 'Warning', reasons.nameTaken, foreign(name));
        return;
      }
      // a label that somebody set is no reason to make something
      if (!members.some((cluster) => sourceOf(cluster) !== undefined)) return;
      try {
        await client.create(ClusterGroups, newGroup(namespace, name), { signal, fieldManager: hubFieldManager });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    },
  });

  async function removeEmpty(group: ClusterGroup, signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '', uid } = group.metadata;
    const labelSelector = `${labels.clusterGroup}=${name}`;
    // the cache may be a moment behind a Cluster that has just joined
    const { items } = await client.list(Clusters, { namespace, labelSelector, signal });
    if (items.length > 0) return;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await client.delete(ClusterGroups, { namespace, name }, { signal, ...preconditions });
  }

  controller.watch(clusters, {
    predicate: ({ type, object, previous }) => type !== 'updated' || groupOf(object)[0] !== groupOf(previous)[0],
    map: ({ object }) => groupOf(object),
  });
  controller.watch(groups, {
    predicate: ({ type, object }) => type === 'deleted' || (type === 'added' && isOurs(object)),
  });
  return controller;
}

function groupOf(cluster: Cluster | undefined): string[] {
  const name = cluster?.metadata.labels?.[labels.clusterGroup];
  return name ? [keyOf({ namespace: cluster?.metadata.namespace ?? '', name })] : [];
}

function isOurs({ metadata }: ClusterGroup): boolean {
  return (
    metadata.labels?.[labels.clusterGroup] === metadata.name &&
    metadata.labels?.[fleetLabels.managedBy] === managedByMuster
  );
}

function newGroup(namespace: string, name: string): ClusterGroup {
  return {
    apiVersion,
    kind: 'ClusterGroup',
    metadata: {
      name,
      namespace,
      labels: { [labels.clusterGroup]: name, [fleetLabels.managedBy]: managedByMuster },
    },
    spec: { selector: { matchLabels: { [labels.clusterGroup]: name } } },
  };
}

function foreign(name: string): string {
  return (
    'a rule puts clusters into a group of this name; this one was not made for it and is left as it is: ' +
    `let it select ${labels.clusterGroup}=${name}, or rename it`
  );
}
