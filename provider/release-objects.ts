/** The objects of a release: applied in order, remembered by name, removed in reverse, and proven gone. */
import { createHash } from 'node:crypto';
import { annotations, labels } from '../api/fleet/constants.ts';
import { MusterError } from '../api/errors.ts';
import { CustomResourceDefinitions, Deployments, Leases } from '../api/kubernetes/workloads.ts';
import type { KubeObject, ObjectKey, ResourceType } from '../api/resource.ts';
import { apiVersionOf, keyOf, parseKey } from '../api/resource.ts';
import { resourceTypeOf } from '../components/fleet/kinds.ts';
import { covers } from '../runtime/kube/apply.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { awaitDefinitionGone } from './await-definition-gone.ts';
import { awaitGone } from './await-gone.ts';
import { endWorkload } from './end-workload.ts';
import { fieldManager } from './fleet-object.ts';
import type { CallContext } from './handler.ts';

/** What may have been there before a release, and must then outlive it. */
const shared: ReadonlySet<string> = new Set(['Namespace', 'CustomResourceDefinition']);

/** One object of a release, as the state keeps it: `apps/v1/Deployment cattle-fleet-system/fleet-agent`. */
export type ObjectName = string;

export function nameOf(object: KubeObject): ObjectName {
  return `${object.apiVersion}/${object.kind} ${keyOf(object)}`;
}

/** The inverse of {@link nameOf}. */
export function addressOf(name: ObjectName): { type: ResourceType; key: ObjectKey } {
  const [path = '', key = ''] = name.split(' ');
  return { type: typeOf(path.slice(path.lastIndexOf('/') + 1)), key: parseKey(key) };
}

function typeOf(kind: string): ResourceType {
  // The agent makes it itself, so that it is in no manifest.
  if (kind === Leases.kind) return Leases;
  try {
    return resourceTypeOf({ kind });
  } catch {
    throw new MusterError('UNSUPPORTED', `objects of kind ${kind} are unknown to this pulumi-muster`, {
      where: 'objects',
      hint: 'Upgrade pulumi-muster in the directory of the Pulumi program.',
    });
  }
}

/** Who a release's objects belong to: a stack may hold several releases on one cluster. */
export interface ReleaseOwner {
  readonly owner: string;
}

/**
 * Applies the objects kind after kind, those of one kind side by side, and tells each one that belongs to the release.
 * Namespaces and CustomResourceDefinitions that somebody else made are used, but not owned.
 */
export async function applyObjects(
  client: KubeClient,
  objects: readonly KubeObject[],
  { owner }: ReleaseOwner,
  { signal }: Pick<CallContext, 'signal'>,
  onApplied: (name: ObjectName) => void,
): Promise<void> {
  const applyOne = async (object: KubeObject): Promise<void> => {
    const { type, key } = addressOf(nameOf(object));
    let found = shared.has(object.kind) ? await client.find(type, key, { signal }) : undefined;
    if (found?.metadata.deletionTimestamp !== undefined) {
      // Nothing can be made in what is going; an earlier release may have been removed a moment ago.
      await awaitGone(client, type, key, found.metadata.uid, { signal });
      found = undefined;
    }
    const foreign = isForeign(found, owner);
    await client.apply(type, foreign ? unclaimed(object) : stamped(object, owner), { fieldManager, signal });
    if (!foreign) onApplied(nameOf(object));
  };
  for (const group of byKind(objects, ({ kind }) => kind)) await settleAll(group.map(applyOne));
}

/** Runs of neighbours of one kind: their order among themselves has no meaning. */
function byKind<T>(items: readonly T[], kindOf: (item: T) => string): T[][] {
  const groups: T[][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && kindOf(last[0]) === kindOf(item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

/** All to their end, so that none goes on behind an error; then the first error. */
async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function isForeign(found: KubeObject | undefined, owner: string): boolean {
  return found !== undefined && found.metadata.annotations?.[annotations.owner] !== owner;
}

/** Without the label by which muster knows what it may remove. */
function unclaimed(object: KubeObject): KubeObject {
  const { [labels.managedBy]: _, ...rest } = object.metadata.labels ?? {};
  return { ...object, metadata: { ...object.metadata, labels: rest } };
}

/** With the annotation by which the owner knows it again. */
export function stamped(object: KubeObject, owner: string): KubeObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations.owner]: owner } },
  };
}

/** ServiceAccount `default` is Kubernetes' own: every namespace has one, and gets it back. */
const isKubernetesOwn = (name: ObjectName): boolean => /\/ServiceAccount [^/]+\/default$/.test(name);

/** Deletes objects in reverse order, each only after the workload that uses it has ended, and waits until all are gone. */
export async function removeObjects(
  client: KubeClient,
  names: readonly ObjectName[],
  context: Pick<CallContext, 'signal'>,
): Promise<void> {
  const { signal } = context;
  const own = names.filter((name) => !isKubernetesOwn(name)).reverse();
  const removeOne = async (name: ObjectName): Promise<void> => {
    const { type, key } = addressOf(name);
    if (type.kind === Deployments.kind) await endWorkload(client, key, context);
    else await client.delete(type, key, { signal, propagation: 'Background' });
  };
  for (const group of byKind(own, (name) => name.split(' ')[0] ?? '')) await settleAll(group.map(removeOne));
  await settleAll(
    own.map((name) => {
      const { type, key } = addressOf(name);
      const isDefinition = type.kind === CustomResourceDefinitions.kind;
      return isDefinition
        ? awaitDefinitionGone(client, key.name, context)
        : awaitGone(client, type, key, undefined, context);
    }),
  );
}

/** What became of a release's objects: `missing` ones, and `changed` ones that no longer say what was applied. */
export async function compareObjects(
  client: KubeClient,
  wanted: readonly KubeObject[],
  { signal }: Pick<CallContext, 'signal'>,
): Promise<{ missing: ObjectName[]; changed: ObjectName[] }> {
  const missing: ObjectName[] = [];
  const changed: ObjectName[] = [];
  await settleAll(
    wanted.map(async (object) => {
      const { type, key } = addressOf(nameOf(object));
      const found = await client.find(type, key, { signal });
      if (found === undefined) missing.push(nameOf(object));
      else if (!covers(found, shared.has(object.kind) ? unclaimed(object) : object)) changed.push(nameOf(object));
    }),
  );
  return { missing: missing.sort(), changed: changed.sort() };
}

/**
 * Refuses to take over the workload of somebody else.
 * @throws MusterError ALREADY_OWNED
 */
export async function requireFreeWorkload(
  client: KubeClient,
  type: ResourceType,
  key: ObjectKey,
  { owner }: ReleaseOwner,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<void> {
  const found = await client.find(type, key, { signal });
  if (!isForeign(found, owner)) return;
  const other = found?.metadata.annotations?.[annotations.owner];
  throw new MusterError('ALREADY_OWNED', `it is there already and was made by ${other ?? 'something else'}`, {
    where: `${type.kind} ${keyOf(key)}`,
    hint:
      `Remove it the way it was installed, or hand it over with: kubectl annotate ${type.plural} ${key.name} ` +
      `-n ${key.namespace ?? ''} --overwrite ${annotations.owner}='${owner}'`,
  });
}

/** The names in the order of the manifests; what is in none of them comes first, to be removed last. */
export function inOrder(names: ReadonlySet<ObjectName>, objects: readonly KubeObject[]): ObjectName[] {
  const order = objects.map(nameOf);
  return [...[...names].filter((name) => !order.includes(name)), ...order.filter((name) => names.has(name))];
}

/** Digest of the manifests: changes when inputs or the package's own manifests do, so that an upgrade shows as a change. */
export function manifestHash(objects: readonly KubeObject[]): string {
  return createHash('sha256').update(JSON.stringify(objects)).digest('hex').slice(0, 16);
}

/** `group/version/Kind namespace/name` of an object that is not made from manifests. */
export function objectName(type: ResourceType, key: ObjectKey): ObjectName {
  return `${apiVersionOf(type)}/${type.kind} ${keyOf(key)}`;
}
