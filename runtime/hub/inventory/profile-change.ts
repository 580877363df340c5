/** What has to be written to bring a ClusterProfile into shape. Pure. */
import { labels as fleetLabels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { clusterManager } from '../../../api/multicluster/constants.ts';
import type { ClusterProfile } from '../../../api/multicluster/kinds.ts';
import { annotations as marks } from '../../../api/muster/constants.ts';
import { keyOf } from '../../../api/resource.ts';
import { passedAnnotation } from './profile-view.ts';

/** Whether a profile is this hub's to change and to delete. */
export function isOurProfile({ metadata, spec }: ClusterProfile): boolean {
  return spec.clusterManager.name === clusterManager && metadata.labels?.[fleetLabels.managedBy] === managedByMuster;
}

/** Whether a rule made the Cluster of this very profile: then it is in the inventory already. */
export function isSourceOf({ metadata }: Cluster, profile: ClusterProfile): boolean {
  return !isOurProfile(profile) && metadata.annotations?.[marks.source] === `ClusterProfile/${keyOf(profile)}`;
}

/** A merge patch of everything but the status, `undefined` when nothing differs. What others put there stays. */
export function profileChange(current: ClusterProfile, wanted: ClusterProfile): Record<string, unknown> | undefined {
  const labels = changed(current.metadata.labels, wanted.metadata.labels);
  for (const key of (current.metadata.annotations?.[passedAnnotation] ?? '').split(',')) {
    const left = key !== '' && wanted.metadata.labels?.[key] === undefined;
    if (left && current.metadata.labels?.[key] !== undefined) labels[key] = null;
  }
  const annotations = changed(current.metadata.annotations, wanted.metadata.annotations);
  const owners = ownersChange(current, wanted);
  const displayName = current.spec.displayName === wanted.spec.displayName ? undefined : wanted.spec.displayName;
  const metadata = {
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(owners === undefined ? {} : { ownerReferences: owners }),
  };
  if (Object.keys(metadata).length === 0 && displayName === undefined) return undefined;
  return { metadata, ...(displayName === undefined ? {} : { spec: { displayName } }) };
}

function changed(
  current: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
): Record<string, string | null> {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => current[key] !== value));
}

/** The list of owners when the Cluster is missing in it; an earlier one of its name has gone. */
function ownersChange(current: ClusterProfile, wanted: ClusterProfile): unknown[] | undefined {
  const [cluster] = wanted.metadata.ownerReferences ?? [];
  const owners = current.metadata.ownerReferences ?? [];
  if (cluster === undefined || owners.some(({ uid }) => uid === cluster.uid)) return undefined;
  return [...owners.filter(({ kind, name }) => kind !== cluster.kind || name !== cluster.name), cluster];
}
