/** Writing to a downstream cluster: server-side apply of the agent's manifests, and their removal. */
import { durations } from '../../../api/durations.ts';
import { agentNames, configMapNames, labels, managedByMuster, secretNames } from '../../../api/fleet/constants.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { Deployments, Leases, StatefulSets } from '../../../api/kubernetes/workloads.ts';
import { PodDisruptionBudgets, PriorityClasses, placeOf, resourceTypeOf } from '../../../components/fleet/kinds.ts';
import { isGiven } from '../../../components/fleet/local-agent.ts';
import { fieldManager } from '../../../components/fleet/names.ts';
import type { KubeClient } from '../../kube/client.ts';
import { inParallel } from '../../kube/in-parallel.ts';
import { objectKey } from '../../registration/ensure.ts';
import type { GrantObject } from '../../registration/types.ts';

/**
 * Requests at a time, on the connections that the first look has opened: another handshake would cost both ends more
 * than it saves.
 */
const lanes = 2;

/**
 * Applies the manifests: the namespace first, the Deployment last, all else between them. Unchanged fields
 * cost no write downstream and no restart. A namespace that was there before is used as it is. `own`: this is the hub's
 * own cluster, where all that gives rights comes with the hub's manifests.
 */
export async function applyAgent(
  client: KubeClient,
  manifests: readonly KubeObject[],
  own: boolean,
  signal: AbortSignal,
): Promise<void> {
  const options = { fieldManager, signal, timeoutMs: durations.edgeRequest };
  const mine = own ? manifests.filter((object) => !isGiven(object)) : manifests;
  const apply = async (object: KubeObject): Promise<void> => {
    await client.apply(resourceTypeOf(object), object, options);
  };
  const namespaces = mine.filter(({ kind }) => kind === 'Namespace');
  for (const namespace of namespaces) {
    const found = await client.find(Namespaces, objectKey(namespace), options);
    if (found === undefined || isOurs(found)) await apply(namespace);
  }
  const deployments = mine.filter(({ kind }) => kind === 'Deployment');
  await inLanes(
    mine.filter(({ kind }) => kind !== 'Namespace' && kind !== 'Deployment'),
    apply,
  );
  await inLanes(deployments, apply);
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  await inParallel(items.length, lanes, (index) => work(items[index] as T));
}

/** The agent of Fleet up to 0.11, which was a StatefulSet: two agents of one name must not work side by side. */
export async function removeStatefulAgent(client: KubeClient, namespace: string, signal: AbortSignal): Promise<void> {
  const key = { namespace, name: agentNames.deployment };
  await client.delete(StatefulSets, key, { signal, timeoutMs: durations.edgeRequest });
}

/** Made by muster, so it may be removed by muster. */
export function isOurs(object: KubeObject): boolean {
  return object.metadata.labels?.[labels.managedBy] === managedByMuster;
}

/** What an agent leaves in its namespace beside its manifests, and what an earlier setting may have made. */
function extras(namespace: string): GrantObject[] {
  const at = (name: string) => ({ apiVersion: '', kind: '', metadata: { name, namespace } });
  return [
    { type: Secrets, object: at(secretNames.agent) },
    { type: Secrets, object: at(secretNames.bootstrap) },
    { type: ConfigMaps, object: at(configMapNames.agent) },
    { type: Leases, object: at(agentNames.lease) },
    { type: PodDisruptionBudgets, object: at(agentNames.podDisruptionBudget) },
    { type: PriorityClasses, object: { apiVersion: '', kind: '', metadata: { name: agentNames.priorityClass } } },
  ];
}

/** How {@link removeAgent} removes. */
export interface RemoveOptions {
  /** In the hub's own cluster: what came with the hub's manifests stays. */
  readonly own?: boolean;
  /** Another agent of this cluster stays: what has no namespace is its, too. */
  readonly keepShared?: boolean;
}

/**
 * Removes the agent: the Deployment first, so that nothing is written behind our back, then the rest. Returns the
 * namespace if it was muster's and is now being deleted.
 */
export async function removeAgent(
  client: KubeClient,
  manifests: readonly KubeObject[],
  { own = false, keepShared = false }: RemoveOptions,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const options = { signal, timeoutMs: durations.edgeRequest };
  const remove = async ({ type, object }: GrantObject): Promise<void> => {
    await client.delete(type, objectKey(object), options);
  };
  const entries = manifests
    .filter((object) => !(own && isGiven(object)))
    .map((object) => ({ type: resourceTypeOf(object), object }));
  await inLanes(
    entries.filter(({ type }) => type.kind === Deployments.kind),
    remove,
  );
  const rest = entries
    .filter(({ type, object }) => type.kind !== Deployments.kind && type.kind !== Namespaces.kind && isOurs(object))
    .sort((a, b) => placeOf(b.object) - placeOf(a.object));
  const namespace = manifests.find(({ kind }) => kind === 'Namespace');
  if (namespace === undefined) return undefined;
  const left = extras(namespace.metadata.name ?? '').filter(({ type }) => !((own || keepShared) && !type.namespaced));
  await inLanes([...rest, ...left], remove);
  if (own) return undefined;
  const found = await client.find(Namespaces, objectKey(namespace), options);
  if (found === undefined || !isOurs(found)) return undefined;
  if (found.metadata.deletionTimestamp === undefined) await client.delete(Namespaces, objectKey(namespace), options);
  return found;
}
