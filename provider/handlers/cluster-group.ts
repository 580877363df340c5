/** `ClusterGroup`: clusters of one workspace by their labels, and what the hub counts of them. */
import { z } from 'zod';
import { clusterGroupSpec } from '../../api/fleet/cluster-group.ts';
import { apiVersion, defaults } from '../../api/fleet/constants.ts';
import { ClusterGroups } from '../../api/fleet/kinds.ts';
import type { ClusterGroup } from '../../api/fleet/kinds.ts';
import { MusterError } from '../../api/errors.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitObject } from '../await-object.ts';
import { wantedMetadata } from '../fleet-object.ts';
import type { CallContext } from '../handler.ts';
import { common, metadata } from '../inputs.ts';
import { simpleHandler } from '../simple-object.ts';

const groupInputs = z.strictObject({
  ...common,
  metadata,
  selector: clusterGroupSpec.shape.selector.unwrap().unwrap(),
});
export type GroupInputs = z.infer<typeof groupInputs>;

/** The hub's counts as they were when it was last looked at. */
export interface GroupCounts {
  readonly clusterCount: number;
  readonly readyClusterCount: number;
  readonly nonReadyClusterCount: number;
  /** Ten names at most. */
  readonly nonReadyClusters: readonly string[];
}

export const clusterGroup = simpleHandler<GroupInputs, GroupCounts, ClusterGroup>({
  kind: 'ClusterGroup',
  type: ClusterGroups,
  schema: groupInputs,
  namespace: defaults.defaultNamespace,
  fields: ['selector'],
  answers: ['clusterCount', 'readyClusterCount', 'nonReadyClusterCount', 'nonReadyClusters'],

  object(inputs) {
    const { selector } = inputs;
    return { apiVersion, kind: 'ClusterGroup', metadata: wantedMetadata(inputs), spec: { selector } };
  },

  observed(_declared, { spec }) {
    return { selector: spec?.selector ?? {} };
  },

  answer(found) {
    const { clusterCount = 0, nonReadyClusterCount = 0, nonReadyClusters } = found?.status ?? {};
    return {
      clusterCount,
      readyClusterCount: clusterCount - nonReadyClusterCount,
      nonReadyClusterCount,
      nonReadyClusters: nonReadyClusters ?? [],
    };
  },

  settle: awaitCounted,
});

/** Until the hub has counted once. Neither hub tells which version of the selector a count is of. */
async function awaitCounted(
  client: KubeClient,
  applied: ClusterGroup,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<ClusterGroup> {
  const key = { namespace: applied.metadata.namespace ?? '', name: applied.metadata.name ?? '' };
  const where = `ClusterGroup ${keyOf(key)}`;
  const settled = (group: ClusterGroup | undefined): boolean =>
    group === undefined || group.status?.clusterCount !== undefined;
  try {
    const group = await awaitObject(client, ClusterGroups, key, settled, { signal });
    if (group !== undefined) return group;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new MusterError('TIMEOUT', 'its clusters were not counted: no hub has taken it up. Is the hub running?', {
      where,
      hint: 'Raise timeouts.create, or set awaitReady to false.',
      retryable: true,
    });
  }
  throw new MusterError('NOT_FOUND', 'the object is gone from the hub', { where });
}
