/** Handler of `AgentRelease`: the agent in a downstream cluster, from the shared manifests. */
import { agentNames, secretNames } from '../../api/fleet/constants.ts';
import { MusterError } from '../../api/errors.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { Deployments, Leases } from '../../api/kubernetes/workloads.ts';
import { isFleetImage } from '../../components/fleet/index.ts';
import { isAvailable } from '../../runtime/kube/workload.ts';
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
  manifestHash,
  nameOf,
  objectName,
  removeObjects,
  requireFreeWorkload,
} from '../release-objects.ts';
import type { ObjectName } from '../release-objects.ts';
import { differs, hasUnknown, isUnknown } from '../unknowns.ts';
import { awaitAgent } from './agent-await.ts';
import { agentInputs } from './agent-inputs.ts';
import type { AgentInputs } from './agent-inputs.ts';
import { agentManifests } from './agent-manifests.ts';
import { namespaceOf, outputsOf, ownerOf, rendered } from './agent-outputs.ts';
import type { AgentOutputs } from './agent-outputs.ts';
import { leaveLastingCredential } from './lasting-credential.ts';

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
  'program',
  'systemDefaultRegistry',
  'garbageCollectionInterval',
  'workers',
  'redeploy',
  'deploysWorkloads',
  'cluster',
  'onOtherCluster',
  'hub',
  'awaitReady',
  'timeouts',
  'owner',
] as const;

const workload = (namespace: string): { namespace: string; name: string } => ({
  namespace,
  name: agentNames.deployment,
});
const isFleets = ({ program, image }: { readonly program?: unknown; readonly image?: unknown }): boolean =>
  program === undefined ? typeof image === 'string' && isFleetImage(image) : program === 'fleet';
const edgeOf = ({ kubeconfig, context }: Pick<AgentInputs, 'kubeconfig' | 'context'>): Connection => ({
  // Absent only where nothing is applied from here.
  kubeconfig: kubeconfig ?? '',
  context,
});

export const agentRelease: ResourceHandler<AgentInputs, AgentOutputs> = {
  kind: 'AgentRelease',

  check(_olds, given) {
    const news = withoutNulls(given);
    const { render } = news;
    const deploysWorkloads = isFleets(news);
    const defaulted: Props = { awaitReady: render !== true, onOtherCluster: 'replace', deploysWorkloads };
    const inputs: Props = { ...defaulted, ...news };
    return { inputs, failures: failuresOf(agentInputs, inputs) };
  },

  async diff(_id, olds, news, context) {
    const replaces = changedInputs(olds, news, ['clientID']);
    // Nobody here can remove what somebody else has applied, or take over what is not reached any more.
    if (differs(olds.render ?? false, news.render ?? false)) replaces.push('render');
    const settings = news.agentSettings;
    if (isUnknown(settings) || isUnknown(settings?.namespace) || namespaceOf(news) !== olds.namespace) {
      replaces.push('agentSettings.namespace');
    }
    const changed = changedInputs(olds, news, updatable);
    const moved = changed.includes('kubeconfig') || changed.includes('context');
    if (moved && news.onOtherCluster === 'replace' && (await isOtherCluster(olds.clusterUID, edgeOf(news), context))) {
      replaces.push('kubeconfig');
    }
    const upgraded = !hasUnknown(news) && manifestHash(agentManifests(news)) !== olds.manifestHash;
    const changes = changed.length + replaces.length + olds.drift.length > 0 || upgraded;
    // On the same cluster the names are the same; on another one they do not meet, but the order does no harm.
    return { changes, replaces, deleteBeforeReplace: replaces.length > 0 };
  },

  async create(inputs, context) {
    if (inputs.render) return { id: `rendered/${inputs.resourceName}`, outputs: rendered(inputs, undefined) };
    const uid = await uidOf(edgeOf(inputs), context);
    const id = `${uid ?? 'cluster'}/${namespaceOf(inputs)}/${agentNames.deployment}`;
    return { id, outputs: await write(id, inputs, undefined, context) };
  },

  async read(_id, olds, context) {
    if (olds.render) return olds;
    const { client, uid } = context.clients.get(edgeOf(olds));
    const wanted = agentManifests(olds);
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
    if (news.render) return rendered(news, olds);
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
    if (olds.render) return;
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
    const { namespace: _n, clusterUID: _c, ready: _r, objects: _o, manifestHash: _m, drift: _d, ...rest } = outputs;
    const { manifest: _t, previousImage: _p, ...inputs } = rest;
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
  const objects = agentManifests(inputs, registered ? undefined : inputs.values);
  const owned = new Set<ObjectName>(olds?.objects);
  const outputs = await outputsOf(inputs, olds, edge, owned, context);
  const progress: Progress<AgentOutputs> = resuming(id, outputs(false));
  const step = <T>(body: () => Promise<T>): Promise<T> => applyStep(progress, body, () => owned.size > 0);
  const onApplied = (name: ObjectName): void => {
    owned.add(name);
    progress.outputs = outputs(false);
  };
  if (registered && isFleets(inputs)) {
    await step(() => leaveLastingCredential(client, namespace, inputs.hub ?? context.configuration.hub, context));
  }
  await step(() => applyObjects(client, objects, ownerOf(inputs), context, onApplied));
  const wanted = new Set(agentManifests(inputs, inputs.values).map((object) => nameOf(object)));
  const dropped = [...owned].filter((name) => !wanted.has(name));
  await step(() => removeObjects(client, dropped, context));
  dropped.forEach((name) => owned.delete(name));
  if (inputs.awaitReady) await step(() => awaitAgent(client, inputs, namespace, context));
  return outputs(inputs.awaitReady);
}
