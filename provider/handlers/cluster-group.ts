/** Handler of `ClusterGroup`: clusters of one workspace by their labels, and what the hub counts of them. */
import { z } from 'zod';
import { clusterGroupSpec } from '../../api/fleet/cluster-group.ts';
import { apiVersion, defaults } from '../../api/fleet/constants.ts';
import { ClusterGroups } from '../../api/fleet/kinds.ts';
import type { ClusterGroup } from '../../api/fleet/kinds.ts';
import { MusterError } from '../../api/errors.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { deleteOwned } from '../delete-owned.ts';
import { awaitObject } from '../await-object.ts';
import { hubOf } from '../configuration.ts';
import {
  changedInputs,
  fieldManager,
  metadataReplaces,
  observedMetadata,
  requireOwner,
  wantedMetadata,
} from '../fleet-object.ts';
import type { CallContext, Props, ResourceHandler } from '../handler.ts';
import { isOtherCluster } from '../identity.ts';
import { common, failuresOf, metadata, withoutNulls } from '../inputs.ts';
import { completeMetadata, isAutoName } from '../names.ts';
import { applyStep, resuming } from '../partial.ts';
import { isUnknown } from '../unknowns.ts';

const groupInputs = z.strictObject({
  ...common,
  metadata,
  selector: clusterGroupSpec.shape.selector.unwrap().unwrap(),
});
export type GroupInputs = z.infer<typeof groupInputs>;

/** Inputs, and the hub's counts as they were when it was last looked at. */
export interface GroupOutputs extends GroupInputs {
  readonly uid: string;
  readonly hubUID: string;
  readonly clusterCount: number;
  readonly readyClusterCount: number;
  readonly nonReadyClusterCount: number;
  /** Ten names at most. */
  readonly nonReadyClusters: readonly string[];
}

const updatable = ['selector', 'hub', 'awaitReady', 'timeouts', 'owner'] as const;

export const clusterGroup: ResourceHandler<GroupInputs, GroupOutputs> = {
  kind: 'ClusterGroup',

  check(olds, given) {
    const news = withoutNulls(given);
    const inputs: Props = {
      awaitReady: true,
      ...news,
      metadata: completeMetadata(olds, news, defaults.defaultNamespace),
    };
    return { inputs, failures: failuresOf(groupInputs, inputs) };
  },

  async diff(_id, olds, news, context) {
    const replaces = metadataReplaces(olds.metadata, news.metadata);
    const changed = changedInputs(olds, news, updatable);
    if (!isUnknown(news.metadata))
      changed.push(...changedInputs(olds.metadata, news.metadata, ['labels', 'annotations']));
    if (await isOtherCluster(olds.hubUID, news.hub ?? context.configuration.hub, context)) replaces.push('hub');
    return {
      changes: changed.length + replaces.length > 0,
      replaces,
      deleteBeforeReplace: replaces.length > 0 && !isAutoName(news.metadata.name, news.resourceName),
    };
  },

  async create(inputs, context) {
    return { id: keyOf(inputs.metadata), outputs: await write(inputs, [inputs.owner], undefined, context) };
  },

  async read(_id, olds, context) {
    const { client, uid } = context.clients.get(hubOf(olds, context.configuration));
    const found = await client.find(ClusterGroups, olds.metadata, context);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
    const live: GroupInputs = {
      ...olds,
      metadata: observedMetadata(olds.metadata, found),
      selector: found.spec?.selector ?? {},
    };
    return observe(live, found, (await uid(context)) ?? olds.hubUID);
  },

  async update(_id, olds, news, context) {
    return write(news, [news.owner, olds.owner], olds, context);
  },

  async delete(_id, olds, context) {
    const { client } = context.clients.get(hubOf(olds, context.configuration));
    await deleteOwned(client, ClusterGroups, olds, context);
  },

  inputsOf(outputs) {
    const {
      uid: _u,
      hubUID: _h,
      clusterCount: _c,
      readyClusterCount: _r,
      nonReadyClusterCount: _n,
      nonReadyClusters: _l,
      ...inputs
    } = outputs;
    return inputs;
  },
};

async function write(
  inputs: GroupInputs,
  owners: readonly string[],
  olds: GroupOutputs | undefined,
  context: CallContext,
): Promise<GroupOutputs> {
  const { signal } = context;
  const { client, uid } = context.clients.get(hubOf(inputs, context.configuration));
  const hubUID = (await uid(context)) ?? '';
  const existing = await client.find(ClusterGroups, inputs.metadata, { signal });
  if (olds === undefined || existing?.metadata.uid !== olds.uid) requireOwner(ClusterGroups, existing, owners);
  const progress = resuming(keyOf(inputs.metadata), observe(inputs, existing, hubUID));
  const object: ClusterGroup = {
    apiVersion,
    kind: 'ClusterGroup',
    metadata: wantedMetadata(inputs),
    spec: { selector: inputs.selector },
  };
  const applied = await applyStep(progress, () => client.apply(ClusterGroups, object, { fieldManager, signal }));
  progress.outputs = observe(inputs, applied, hubUID);
  if (!inputs.awaitReady) return progress.outputs;
  const counted = await applyStep(progress, () => awaitCounted(client, applied, context));
  return observe(inputs, counted, hubUID);
}

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

function observe(inputs: GroupInputs, found: ClusterGroup | undefined, hubUID: string): GroupOutputs {
  const { clusterCount = 0, nonReadyClusterCount = 0, nonReadyClusters } = found?.status ?? {};
  return {
    ...inputs,
    uid: found?.metadata.uid ?? '',
    hubUID,
    clusterCount,
    readyClusterCount: clusterCount - nonReadyClusterCount,
    nonReadyClusterCount,
    nonReadyClusters: nonReadyClusters ?? [],
  };
}
