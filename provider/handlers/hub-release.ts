/** Handler of `HubRelease`: definitions, rights, configuration and controllers of a hub, from the shared manifests. */
import { defaults } from '../../api/fleet/constants.ts';
import { Deployments } from '../../api/kubernetes/workloads.ts';
import { hubNames } from '../../components/fleet/index.ts';
import { isAvailable } from '../../runtime/kube/workload.ts';
import { awaitDeployment } from '../await-deployment.ts';
import { hubOf } from '../configuration.ts';
import { changedInputs } from '../fleet-object.ts';
import type { CallContext, Props, ResourceHandler } from '../handler.ts';
import { isOtherCluster } from '../identity.ts';
import { failuresOf, withoutNulls } from '../inputs.ts';
import { applyStep, resuming } from '../partial.ts';
import type { Progress } from '../partial.ts';
import type { ObjectName } from '../release-objects.ts';
import {
  applyObjects,
  compareObjects,
  inOrder,
  manifestHash,
  nameOf,
  removeObjects,
  requireFreeWorkload,
} from '../release-objects.ts';
import { hasUnknown } from '../unknowns.ts';
import { refuseFleet } from './hub-conflicts.ts';
import { awaitDefinitions } from './hub-definitions.ts';
import { hubContainer, hubInputs } from './hub-inputs.ts';
import type { HubInputs } from './hub-inputs.ts';
import { hubManifests } from './hub-manifests.ts';
import { clearCustomObjects, requireUnused } from './hub-removal.ts';

export interface HubOutputs extends HubInputs {
  readonly hubUID: string;
  readonly ready: boolean;
  /** What belongs to the release. */
  readonly objects: readonly ObjectName[];
  readonly manifestHash: string;
  /** Objects that were missing or changed when last looked at; an update puts them right. */
  readonly drift: readonly ObjectName[];
}

const updatable = [
  'hub',
  'image',
  'config',
  'workspaces',
  'force',
  'awaitReady',
  'timeouts',
  'owner',
  ...Object.keys(hubContainer),
];

const idOf = ({ namespace }: HubInputs): string => `${namespace}/${hubNames.deployment}`;
const ownerOf = (inputs: HubInputs): { owner: string } => ({ owner: `${inputs.owner} HubRelease ${inputs.namespace}` });
const workload = ({ namespace }: HubInputs): { namespace: string; name: string } => ({
  namespace,
  name: hubNames.deployment,
});

export const hubRelease: ResourceHandler<HubInputs, HubOutputs> = {
  kind: 'HubRelease',

  check(_olds, given) {
    const news = withoutNulls(given);
    const inputs: Props = { awaitReady: true, force: false, namespace: defaults.systemNamespace, config: {}, ...news };
    return { inputs, failures: failuresOf(hubInputs, inputs) };
  },

  async diff(_id, olds, news, context) {
    const replaces = changedInputs(olds, news, ['namespace']);
    if (await isOtherCluster(olds.hubUID, news.hub ?? context.configuration.hub, context)) replaces.push('hub');
    const changed = changedInputs(olds, news, updatable);
    const upgraded = !hasUnknown(news) && manifestHash(hubManifests(news)) !== olds.manifestHash;
    const changes = changed.length + replaces.length + olds.drift.length > 0 || upgraded;
    return { changes, replaces, deleteBeforeReplace: replaces.length > 0 };
  },

  async create(inputs, context) {
    const id = idOf(inputs);
    return { id, outputs: await write(id, inputs, undefined, context) };
  },

  async read(_id, olds, context) {
    const { client, uid } = context.clients.get(hubOf(olds, context.configuration));
    const wanted = hubManifests(olds);
    const { missing, changed } = await compareObjects(client, wanted, context);
    if (missing.length === wanted.length) return undefined;
    const found = await client.find(Deployments, workload(olds), context);
    return {
      ...olds,
      hubUID: (await uid(context)) ?? olds.hubUID,
      ready: isAvailable(found),
      drift: [...missing, ...changed],
    };
  },

  async update(id, olds, news, context) {
    return write(id, news, olds, context);
  },

  async delete(_id, olds, context) {
    const { client } = context.clients.get(hubOf(olds, context.configuration));
    if (!olds.force) await requireUnused(client, context);
    await clearCustomObjects(client, olds, context);
    await removeObjects(client, olds.objects, context);
  },

  inputsOf(outputs) {
    const { hubUID: _h, ready: _r, objects: _o, manifestHash: _m, drift: _d, ...inputs } = outputs;
    return inputs;
  },
};

async function write(
  id: string,
  inputs: HubInputs,
  olds: HubOutputs | undefined,
  context: CallContext,
): Promise<HubOutputs> {
  const { client, uid } = context.clients.get(hubOf(inputs, context.configuration));
  const objects = hubManifests(inputs);
  await refuseFleet(client, inputs.namespace, context);
  await requireFreeWorkload(client, Deployments, workload(inputs), ownerOf(inputs), context);
  const owned = new Set<ObjectName>(olds?.objects);
  const outputs = async (ready: boolean): Promise<HubOutputs> => ({
    ...inputs,
    hubUID: (await uid(context)) ?? '',
    ready,
    objects: inOrder(owned, objects),
    manifestHash: manifestHash(objects),
    drift: [],
  });
  const progress: Progress<HubOutputs> = resuming(id, await outputs(false));
  const onApplied = (name: ObjectName): void => {
    owned.add(name);
    progress.outputs = { ...progress.outputs, objects: inOrder(owned, objects) };
  };
  const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  const rest = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  const step = <T>(body: () => Promise<T>): Promise<T> => applyStep(progress, body, () => owned.size > 0);
  await step(() => applyObjects(client, definitions, ownerOf(inputs), context, onApplied));
  await step(() => awaitDefinitions(client, definitions, context));
  await step(() => applyObjects(client, rest, ownerOf(inputs), context, onApplied));
  const wanted = new Set(objects.map((object) => nameOf(object)));
  const dropped = [...owned].filter((name) => !wanted.has(name));
  await step(() => removeObjects(client, dropped, context));
  dropped.forEach((name) => owned.delete(name));
  if (inputs.awaitReady) await step(() => awaitDeployment(client, workload(inputs), context));
  return outputs(inputs.awaitReady);
}
