/** Handler of `Cluster`: a registration on the hub, and the Secret with its kubeconfig. */
import { defaults } from '../../api/fleet/constants.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import { clusterNamespace, randomToken } from '../../api/fleet/names.ts';
import { hubOf } from '../configuration.ts';
import type { CallContext, Props, ResourceHandler } from '../handler.ts';
import { changedInputs, fieldManager, metadataReplaces, observedMetadata, requireOwner } from '../fleet-object.ts';
import { failuresOf, withoutNulls } from '../inputs.ts';
import { isOtherCluster, uidOf } from '../identity.ts';
import { MusterError } from '../../api/errors.ts';
import { completeMetadata, isAutoName } from '../names.ts';
import { applyStep, resuming } from '../partial.ts';
import { isReady } from '../ready.ts';
import { isUnknown } from '../unknowns.ts';
import { awaitCluster } from './cluster-await.ts';
import { clusterInputs, clusterObject } from './cluster-inputs.ts';
import type { ClusterInputs } from './cluster-inputs.ts';
import { deleteCluster } from './cluster-delete.ts';
import { applyKubeconfig, deleteKubeconfig, readKubeconfig } from './cluster-kubeconfig.ts';
import type { KubeconfigState } from './cluster-kubeconfig.ts';

/** Inputs, and what the hub says. */
export interface ClusterOutputs extends ClusterInputs {
  readonly uid: string;
  readonly hubUID: string;
  readonly clusterUID: string;
  readonly namespace: string;
  readonly conditions: readonly { type: string; status: string; reason: string; message: string }[];
  readonly agent: {
    readonly lastSeen: string;
    readonly namespace: string;
    readonly kubernetesVersion?: string;
    readonly nodes?: number;
  };
  readonly ready: boolean;
}

const updatable = [
  'hub',
  'kubeconfig',
  'kubeconfigSecret',
  'apiServerURL',
  'apiServerCA',
  'agentSettings',
  'redeploy',
  'paused',
  'templateValues',
  'onOtherCluster',
  'awaitReady',
  'timeouts',
  'owner',
] as const;

const idOf = ({ metadata }: ClusterInputs): string => `${metadata.namespace}/${metadata.name}`;

export const cluster: ResourceHandler<ClusterInputs, ClusterOutputs> = {
  kind: 'Cluster',

  check(olds, given) {
    const news = withoutNulls(given);
    const inputs: Props = {
      awaitReady: news['kubeconfig'] !== undefined || news['kubeconfigSecret'] !== undefined,
      onOtherCluster: 'replace',
      ...news,
      metadata: completeMetadata(olds, news, defaults.defaultNamespace),
    };
    const imported = news['kubeconfig'] !== undefined || news['kubeconfigSecret'] !== undefined;
    if (!imported && inputs['clientID'] === undefined) {
      const kept = olds?.['clientID'];
      inputs['clientID'] = typeof kept === 'string' && !isUnknown(kept) ? kept : randomToken();
    }
    return { inputs, failures: failuresOf(clusterInputs, inputs) };
  },

  async diff(_id, olds, news, context) {
    const replaces = metadataReplaces(olds.metadata, news.metadata);
    if (news.clientID !== undefined && changedInputs(olds, news, ['clientID']).length > 0) replaces.push('clientID');
    const changed = changedInputs(olds, news, updatable);
    const { labels, annotations } = olds.metadata;
    const metadata = isUnknown(news.metadata) ? { labels, annotations } : news.metadata;
    changed.push(...changedInputs({ labels, annotations }, metadata, ['labels', 'annotations']));
    if (await isOtherCluster(olds.hubUID, news.hub ?? context.configuration.hub, context)) replaces.push('hub');
    if (changed.includes('kubeconfig') && (await isOtherDownstream(olds, news, context))) replaces.push('kubeconfig');
    return {
      changes: changed.length + replaces.length > 0,
      replaces,
      deleteBeforeReplace: replaces.length > 0 && !isAutoName(news.metadata.name, news.resourceName),
    };
  },

  async create(inputs, context) {
    const id = idOf(inputs);
    const outputs = await write(id, inputs, [inputs.owner], undefined, context);
    return { id, outputs };
  },

  async read(_id, olds, context) {
    const { client, uid } = context.clients.get(hubOf(olds, context.configuration));
    const found = await client.find(Clusters, olds.metadata, context);
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined;
    const kubeconfig = await readKubeconfig(client, olds, context);
    return observe({ ...olds, ...fromLive(olds, found), kubeconfig }, found, (await uid(context)) ?? olds.hubUID);
  },

  async update(id, olds, news, context) {
    if (news.onOtherCluster === 'error' && (await isOtherDownstream(olds, news, context, 'error'))) {
      throw new MusterError('WRONG_CLUSTER', 'the new kubeconfig leads to another cluster than the one registered', {
        where: 'kubeconfig',
        hint: "Give a kubeconfig of the same cluster, or set onOtherCluster to 'replace'.",
      });
    }
    return write(id, news, [news.owner, olds.owner], olds, context);
  },

  async delete(_id, olds, context) {
    const { client } = context.clients.get(hubOf(olds, context.configuration));
    await deleteCluster(client, olds, context);
    await deleteKubeconfig(client, olds, context);
  },

  inputsOf(outputs) {
    const {
      uid: _u,
      hubUID: _h,
      clusterUID: _c,
      namespace: _n,
      conditions: _o,
      agent: _a,
      ready: _r,
      ...inputs
    } = outputs;
    if (inputs.kubeconfig === undefined && inputs.kubeconfigSecret === undefined) return { ...inputs };
    // The hub gave this identity; it is no input of the user's.
    const { clientID: _, ...rest } = inputs;
    return rest;
  },
};

/** True when the kubeconfig's cluster is another than the registered one, under the given policy. */
async function isOtherDownstream(
  olds: ClusterOutputs,
  news: ClusterInputs,
  context: CallContext,
  policy: 'replace' | 'error' = 'replace',
): Promise<boolean> {
  if (news.onOtherCluster !== policy || news.kubeconfig === undefined) return false;
  return isOtherCluster(olds.clusterUID, { kubeconfig: news.kubeconfig }, context);
}

/** Applies everything and waits. Serves create and update alike, so that either may continue what the other began. */
async function write(
  id: string,
  inputs: ClusterInputs,
  owners: readonly string[],
  olds: (ClusterOutputs & KubeconfigState) | undefined,
  context: CallContext,
): Promise<ClusterOutputs> {
  const { client, uid } = context.clients.get(hubOf(inputs, context.configuration));
  const hubUID = (await uid(context)) ?? '';
  const existing = await client.find(Clusters, inputs.metadata, context);
  if (olds === undefined || existing?.metadata.uid !== olds.uid) requireOwner(Clusters, existing, owners);
  const clusterUID = inputs.kubeconfig === undefined ? undefined : uidOf({ kubeconfig: inputs.kubeconfig }, context);
  const progress = resuming(id, observe({ ...inputs, clusterUID: olds?.clusterUID ?? '' }, existing, hubUID));
  if (inputs.kubeconfig !== undefined || olds?.kubeconfig !== undefined) {
    await applyStep(progress, () => applyKubeconfig(client, inputs, olds, owners, context));
  }
  const applied = await applyStep(progress, () =>
    client.apply(Clusters, clusterObject(inputs), { signal: context.signal, fieldManager }),
  );
  const known = { ...inputs, clusterUID: (await clusterUID) ?? olds?.clusterUID ?? '' };
  progress.outputs = observe(known, applied, hubUID);
  if (!inputs.awaitReady) return progress.outputs;
  const ready = await applyStep(progress, () =>
    awaitCluster(client, inputs.metadata, context, (seen) => (progress.outputs = observe(known, seen, hubUID))),
  );
  return observe(known, ready, hubUID);
}

/** Outputs from inputs and the object; `found` is undefined before it was written. */
function observe(
  inputs: ClusterInputs & { readonly clusterUID: string },
  found: Cluster | undefined,
  hubUID: string,
): ClusterOutputs {
  const status = found?.status ?? {};
  const { lastSeen, namespace, kubernetesVersion, nodes } = status.agent ?? {};
  const conditions = status.conditions ?? [];
  return {
    ...inputs,
    uid: found?.metadata.uid ?? '',
    hubUID,
    clientID: found?.spec?.clientID ?? inputs.clientID ?? '',
    // The hub will make it under this very name; programs need not wait for it to refer to it.
    namespace: status.namespace ?? clusterNamespace(inputs.metadata.namespace, inputs.metadata.name),
    // Without their times: an output that changes with every look would show as a change in every refresh.
    conditions: conditions.map(({ type, status: value, reason = '', message = '' }) => ({
      type,
      status: value,
      reason,
      message,
    })),
    agent: {
      lastSeen: lastSeen ?? '',
      namespace: namespace ?? '',
      ...(kubernetesVersion ? { kubernetesVersion } : {}),
      ...(nodes ? { nodes } : {}),
    },
    ready: found !== undefined && isReady(found),
  };
}

/** The inputs as they stand on the hub: what somebody changed by hand shows as a difference. Undeclared ones do not. */
function fromLive(olds: ClusterOutputs, found: Cluster): Partial<ClusterInputs> {
  const spec = found.spec ?? {};
  const wanted = clusterObject(olds).spec ?? {};
  const live = <K extends keyof typeof spec>(key: K): Exclude<(typeof spec)[K], null> | undefined =>
    wanted[key] === undefined ? undefined : ((spec[key] ?? undefined) as Exclude<(typeof spec)[K], null> | undefined);
  const agent = {
    namespace: live('agentNamespace'),
    envVars: live('agentEnvVars'),
    tolerations: live('agentTolerations'),
    affinity: live('agentAffinity'),
    resources: live('agentResources'),
    schedulingCustomization: live('agentSchedulingCustomization'),
    imagePullSecrets: live('agentPullSecrets')?.map(({ name }) => name ?? ''),
    hostNetwork: live('hostNetwork'),
    privateRepoURL: live('privateRepoURL'),
  };
  return {
    metadata: observedMetadata(olds.metadata, found),
    ...(olds.agentSettings === undefined ? {} : { agentSettings: agent as ClusterInputs['agentSettings'] }),
    paused: live('paused'),
    redeploy: live('redeployAgentGeneration'),
    templateValues: live('templateValues'),
  };
}
