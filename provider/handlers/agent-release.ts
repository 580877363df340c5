/** Handler of `AgentRelease`: the agent in a downstream cluster, from the shared manifests. */
import { agentNames, defaults, secretNames } from '../../api/fleet/constants.ts';
import { isMusterError, MusterError } from '../../api/errors.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { Deployments, Leases } from '../../api/kubernetes/workloads.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitDeployment, isAvailable } from '../await-deployment.ts';
import type { Target } from '../clients.ts';
import { hubOf } from '../configuration.ts';
import type { Connection } from '../configuration.ts';
import { changedInputs } from '../fleet-object.ts';
import type { CallContext, Props, ResourceHandler } from '../handler.ts';
import { isOtherCluster, uidOf } from '../identity.ts';
import { failuresOf, withoutNulls } from '../inputs.ts';
import { applyStep, resuming } from '../partial.ts';
import type { Progress } from '../partial.ts';
import {
  applyObjects,
  compareObjects,
  inOrder,
  manifestHash,
  nameOf,
  objectName,
  removeObjects,
  requireFreeWorkload,
} from '../release-objects.ts';
import type { ObjectName } from '../release-objects.ts';
import { hasUnknown, isUnknown } from '../unknowns.ts';
import { agentInputs, agentManifests } from './agent-inputs.ts';
import type { AgentInputs } from './agent-inputs.ts';
import { awaitCluster } from './cluster-await.ts';

export interface AgentOutputs extends AgentInputs {
  /** Namespace of the agent. */
  readonly namespace: string;
  readonly clusterUID: string;
  readonly ready: boolean;
  readonly objects: readonly ObjectName[];
  readonly manifestHash: string;
  /** Objects that were missing or changed when last looked at; an update puts them right. */
  readonly drift: readonly ObjectName[];
}

const updatable = [
  'kubeconfig',
  'context',
  'values',
  'image',
  'imagePullPolicy',
  'imagePullSecrets',
  'replicas',
  'labels',
  'agentSettings',
  'checkinInterval',
  'agentTLSMode',
  'deploysWorkloads',
  'cluster',
  'onOtherCluster',
  'hub',
  'awaitReady',
  'timeouts',
  'owner',
] as const;

const namespaceOf = ({ agentSettings }: Pick<AgentInputs, 'agentSettings'>): string =>
  agentSettings?.namespace ?? defaults.agentNamespace;
const workload = (namespace: string): { namespace: string; name: string } => ({
  namespace,
  name: agentNames.deployment,
});
const ownerOf = (inputs: AgentInputs): { owner: string } => ({
  owner: `${inputs.owner} AgentRelease ${namespaceOf(inputs)}`,
});
const edgeOf = ({ kubeconfig, context }: Pick<AgentInputs, 'kubeconfig' | 'context'>): Connection => ({
  kubeconfig,
  context,
});

export const agentRelease: ResourceHandler<AgentInputs, AgentOutputs> = {
  kind: 'AgentRelease',

  check(_olds, given) {
    const news = withoutNulls(given);
    const inputs: Props = { awaitReady: true, onOtherCluster: 'replace', deploysWorkloads: false, ...news };
    return { inputs, failures: failuresOf(agentInputs, inputs) };
  },

  async diff(_id, olds, news, context) {
    const replaces = changedInputs(olds, news, ['clientID']);
    const settings = news.agentSettings;
    if (isUnknown(settings) || isUnknown(settings?.namespace) || namespaceOf(news) !== olds.namespace) {
      replaces.push('agentSettings.namespace');
    }
    const changed = changedInputs(olds, news, updatable);
    const moved = changed.includes('kubeconfig') || changed.includes('context');
    if (moved && news.onOtherCluster === 'replace' && (await isOtherCluster(olds.clusterUID, edgeOf(news), context))) {
      replaces.push('kubeconfig');
    }
    const upgraded = !hasUnknown(news) && manifestHash(agentManifests(news, false)) !== olds.manifestHash;
    const changes = changed.length + replaces.length + olds.drift.length > 0 || upgraded;
    // On the same cluster the names are the same; on another one they do not meet, but the order does no harm.
    return { changes, replaces, deleteBeforeReplace: replaces.length > 0 };
  },

  async create(inputs, context) {
    const uid = await uidOf(edgeOf(inputs), context);
    const id = `${uid ?? 'cluster'}/${namespaceOf(inputs)}/${agentNames.deployment}`;
    return { id, outputs: await write(id, inputs, undefined, context) };
  },

  async read(_id, olds, context) {
    const { client, uid } = context.clients.get(edgeOf(olds));
    const wanted = agentManifests(olds, false);
    const { missing, changed } = await compareObjects(client, wanted, context);
    if (missing.length === wanted.length) return undefined;
    const found = await client.find(Deployments, workload(olds.namespace), context);
    return {
      ...olds,
      clusterUID: (await uid(context)) ?? olds.clusterUID,
      ready: isAvailable(found),
      drift: [...missing, ...changed],
    };
  },

  async update(id, olds, news, context) {
    if (news.onOtherCluster === 'error' && (await isOtherCluster(olds.clusterUID, edgeOf(news), context))) {
      throw new MusterError(
        'WRONG_CLUSTER',
        'the new kubeconfig leads to another cluster than the one with the agent',
        {
          where: 'kubeconfig',
          hint: "Give a kubeconfig of the same cluster, or set onOtherCluster to 'replace'.",
        },
      );
    }
    return write(id, news, olds, context);
  },

  async delete(_id, olds, context) {
    const { client } = context.clients.get(edgeOf(olds));
    const { namespace } = olds;
    // What the agent itself has made in its namespace.
    const made = [
      objectName(Secrets, { namespace, name: secretNames.bootstrap }),
      objectName(Secrets, { namespace, name: secretNames.agent }),
      objectName(Leases, { namespace, name: agentNames.lease }),
    ];
    const before = olds.objects.filter((name) => !made.includes(name));
    const position = before.findLastIndex((name) => name.includes('/Deployment '));
    await removeObjects(client, before.toSpliced(Math.max(position, 0), 0, ...made), context);
  },

  inputsOf(outputs) {
    const { namespace: _n, clusterUID: _c, ready: _r, objects: _o, manifestHash: _m, drift: _d, ...inputs } = outputs;
    return inputs;
  },
};

async function write(
  id: string,
  inputs: AgentInputs,
  olds: AgentOutputs | undefined,
  context: CallContext,
): Promise<AgentOutputs> {
  const edge = context.clients.get(edgeOf(inputs));
  const { client } = edge;
  const namespace = namespaceOf(inputs);
  await requireFreeWorkload(client, Deployments, workload(namespace), ownerOf(inputs), context);
  // The agent deletes the bootstrap Secret when it has used it; one that is registered needs no new one.
  const registered = (await client.find(Secrets, { namespace, name: secretNames.agent }, context)) !== undefined;
  const objects = agentManifests(inputs, !registered);
  const owned = new Set<ObjectName>(olds?.objects);
  const outputs = await outputsOf(inputs, edge, owned, context);
  const progress: Progress<AgentOutputs> = resuming(id, outputs(false));
  const step = <T>(body: () => Promise<T>): Promise<T> => applyStep(progress, body, () => owned.size > 0);
  const onApplied = (name: ObjectName): void => {
    owned.add(name);
    progress.outputs = outputs(false);
  };
  await step(() => applyObjects(client, objects, ownerOf(inputs), context, onApplied));
  const wanted = new Set(agentManifests(inputs, true).map((object) => nameOf(object)));
  const dropped = [...owned].filter((name) => !wanted.has(name));
  await step(() => removeObjects(client, dropped, context));
  dropped.forEach((name) => owned.delete(name));
  if (inputs.awaitReady) await step(() => awaitAgent(client, inputs, namespace, context));
  return outputs(inputs.awaitReady);
}

async function outputsOf(
  inputs: AgentInputs,
  edge: Target,
  owned: ReadonlySet<ObjectName>,
  context: CallContext,
): Promise<(ready: boolean) => AgentOutputs> {
  const clusterUID = (await edge.uid(context)) ?? '';
  const manifests = agentManifests(inputs, true);
  const hash = manifestHash(agentManifests(inputs, false));
  return (ready) => ({
    ...inputs,
    namespace: namespaceOf(inputs),
    clusterUID,
    ready,
    objects: inOrder(owned, manifests),
    manifestHash: hash,
    drift: [],
  });
}

/** The pods and, where the Cluster is named, the registration; what hangs is told, both when both do. */
async function awaitAgent(
  client: KubeClient,
  inputs: AgentInputs,
  namespace: string,
  context: CallContext,
): Promise<void> {
  if (inputs.cluster === undefined) return awaitDeployment(client, workload(namespace), context);
  const hub = context.clients.get(hubOf(inputs, context.configuration));
  const stop = new AbortController();
  const both = { report: context.report, signal: AbortSignal.any([context.signal, stop.signal]) };
  // A wait that cannot succeed ends the other one, too.
  const orStop = (error: unknown): never => {
    stop.abort(error);
    throw error;
  };
  const results = await Promise.allSettled([
    awaitDeployment(client, workload(namespace), both).catch(orStop),
    awaitCluster(hub.client, inputs.cluster, both).catch(orStop),
  ]);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const other = failures.find((failure) => !isMusterError(failure, 'TIMEOUT'));
  if (other !== undefined) throw other;
  const [first, second] = failures as MusterError[];
  if (first === undefined) return;
  if (second === undefined) throw first;
  throw new MusterError('TIMEOUT', `${first.message} ${second.where ?? ''}: ${second.message}`, {
    ...(first.where === undefined ? {} : { where: first.where }),
    ...(first.hint === undefined ? {} : { hint: first.hint }),
  });
}
