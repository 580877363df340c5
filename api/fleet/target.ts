/** How clusters are selected. */
import { labelSelector } from '../kubernetes/label-selector.ts';
import { text } from '../schema.ts';

/** Criteria of a target; all that are given must hold, and at least one has to be given. */
export const targetFields = {
  name: text('Name of the target, for people.').nullish(),
  clusterName: text('Name, or Rancher display name, of one cluster.').nullish(),
  clusterSelector: labelSelector('Clusters by label; {} matches all of them.').nullish(),
  clusterGroup: text('Name of a ClusterGroup.').nullish(),
  clusterGroupSelector: labelSelector('ClusterGroups by label.').nullish(),
};
