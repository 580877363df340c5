/** Writing and removing ClusterProfiles: nothing without a change, and never one of another manager. */
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { labels } from '../../../api/multicluster/constants.ts';
import type { ClusterProfile } from '../../../api/multicluster/kinds.ts';
import { ClusterProfiles } from '../../../api/multicluster/kinds.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { hubFieldManager } from '../fleet/context.ts';
import { difference } from '../fleet/status-writer.ts';
import { isOurProfile, profileChange } from './profile-change.ts';
import type { ProfileContext } from './profile-controller.ts';
import type { ProfileView } from './profile-view.ts';
import { wantedProfile, wantedStatus } from './profile-view.ts';

/** A profile of this name is another manager's. */
export class ForeignProfile extends Error {
  constructor({ metadata, spec }: ClusterProfile) {
    const whose = `${spec.clusterManager.name || 'another manager'}'s`;
    super(
      `ClusterProfile ${keyOf({ metadata } as ClusterProfile)} is ${whose}; delete or rename it, or rename the Cluster`,
    );
    this.name = 'ForeignProfile';
  }
}

/** Creates or corrects the profile of a Cluster, then its status. Throws ForeignProfile. */
export async function writeProfile(
  context: ProfileContext,
  cluster: Cluster,
  known: ClusterProfile | undefined,
  signal: AbortSignal,
): Promise<void> {
  const view: ProfileView = {
    cluster,
    clusterSet: context.workspaces.get(cluster.metadata.namespace ?? '')?.metadata.labels?.[labels.clusterSet],
    providers: await context.access.read(cluster, signal),
  };
  const wanted = wantedProfile(view);
  const current = known ?? (await create(context, wanted, signal));
  if (!isOurProfile(current)) throw new ForeignProfile(current);
  const shaped = await patch(context, current, profileChange(current, wanted), undefined, signal);
  const status = difference(shaped.status ?? {}, wantedStatus(shaped.status, view, new Date()));
  await patch(context, shaped, status && { status }, 'status', signal);
}

/** The new one, or the one of this name that nobody had heard of yet. */
async function create(context: ProfileContext, wanted: ClusterProfile, signal: AbortSignal): Promise<ClusterProfile> {
  const { client } = context.hub;
  try {
    const made = await client.create(ClusterProfiles, wanted, { fieldManager: hubFieldManager, signal });
    context.profiles.remember(made);
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.get(ClusterProfiles, parseKey(keyOf(wanted)), { signal });
  }
}

/** The version goes along: what another program wrote meanwhile has to be seen before it is overwritten. */
async function patch(
  context: ProfileContext,
  current: ClusterProfile,
  change: Record<string, unknown> | undefined,
  subresource: 'status' | undefined,
  signal: AbortSignal,
): Promise<ClusterProfile> {
  if (change === undefined) return current;
  const { uid, resourceVersion } = current.metadata;
  const body = { ...change, metadata: { ...(change['metadata'] as object | undefined), uid, resourceVersion } };
  const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
  const after = await context.hub.client.patch(ClusterProfiles, parseKey(keyOf(current)), body, {
    ...options,
    ...(subresource === undefined ? {} : { subresource }),
  });
  context.profiles.remember(after);
  return after;
}

/** Deletes a profile of ours; one of another manager stays. */
export async function removeProfile(
  context: ProfileContext,
  profile: ClusterProfile,
  signal: AbortSignal,
): Promise<void> {
  const { uid, deletionTimestamp } = profile.metadata;
  if (!isOurProfile(profile) || deletionTimestamp !== undefined) return;
  await context.hub.client.delete(ClusterProfiles, parseKey(keyOf(profile)), {
    signal,
    ...(uid === undefined ? {} : { preconditions: { uid } }),
  });
}
