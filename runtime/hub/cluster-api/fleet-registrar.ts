/** Registrations as Clusters of Fleet; agents that register themselves get a token for one use beside it. */
import { annotations as fleetAnnotations } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import { safeConcat } from '../../../api/fleet/names.ts';
import { annotations } from '../../../api/muster/constants.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { formatTime } from '../../../api/time.ts';
import { isAlreadyExists, isNotFound } from '../../kube/api-error.ts';
import type { CacheEvent } from '../../kube/cache.ts';
import { ensureClusterToken } from '../fleet/cluster-token.ts';
import type { HubContext } from '../fleet/context.ts';
import { hubFieldManager } from '../fleet/context.ts';
import { registrationOf } from '../fleet/registration-state.ts';
import { clusterPatch, newCluster, wantedCluster } from './fleet-cluster.ts';
import { sourceOf, toRegistered } from './fleet-registered.ts';
import type { Registered, Registrar, RegistrarChange } from './registrar.ts';
import { NameTaken } from './registrar.ts';
import type { Registration } from './registration.ts';

/** Index of Clusters by the source that they were made for. */
const bySource = 'source';

/** Name of the token of an agent that registers itself as this Cluster, and of the Secret with its values. */
export function agentTokenName(cluster: string): string {
  return safeConcat('agent-token', cluster);
}

type Known = Pick<HubContext, 'client' | 'caches' | 'clusters' | 'tokens' | 'requests' | 'serviceAccounts'>;

export function createFleetRegistrar(context: Known): Registrar {
  const { client, caches, clusters } = context;
  caches.clusters.addIndexers({
    [bySource]: (cluster) => {
      const source = sourceOf(cluster);
      return source === undefined ? [] : [source];
    },
  });

  async function patch(key: string, body: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    try {
      const options = { type: 'merge', fieldManager: hubFieldManager, signal } as const;
      clusters.remember(await client.patch(Clusters, parseKey(key), body, options));
    } catch (error) {
      // it went meanwhile, which its event tells
      if (!isNotFound(error)) throw error;
    }
  }

  async function create(wanted: Registration, bootstrapSecret: string, signal: AbortSignal): Promise<Cluster> {
    const cluster = newCluster(wanted, bootstrapSecret);
    try {
      const made = await client.create(Clusters, cluster, { signal, fieldManager: hubFieldManager });
      clusters.remember(made);
      return made;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const other = await client.get(Clusters, { namespace: wanted.workspace, name: wanted.name }, { signal });
      clusters.remember(other);
      return other;
    }
  }

  return {
    protocol: 'fleet',
    of: (source) =>
      clusters
        .byIndex(bySource, source)
        .map(toRegistered)
        .filter((one): one is Registered => one?.source === source),
    sources: () => [...new Set(caches.clusters.list().flatMap((cluster) => sourceOf(cluster) ?? []))],
    holder(key) {
      const cluster = clusters.get(key);
      if (cluster === undefined) return undefined;
      const source = sourceOf(cluster);
      return source === undefined ? {} : { source };
    },
    async ensure(wanted, signal) {
      const key = `${wanted.workspace}/${wanted.name}`;
      const secret = agentTokenName(wanted.name);
      let cluster = clusters.get(key) ?? (await create(wanted, secret, signal));
      const source = sourceOf(cluster);
      if (source !== wanted.source.key) throw new NameTaken(key, source === undefined ? {} : { source });
      const change = clusterPatch(cluster, wantedCluster(wanted, secret));
      if (change !== undefined) {
        await patch(key, change, signal);
        cluster = clusters.get(key) ?? cluster;
      }
      // the Cluster itself says a moment later that it is registered; by then the token may have been used, and be gone
      if (wanted.kubeconfig === undefined && registrationOf(context, cluster).state !== 'granted') {
        const plan = { name: secret, ttl: wanted.tokenTTL, annotations: { [fleetAnnotations.oneUse]: 'true' } };
        await ensureClusterToken(context, cluster, plan, signal);
      }
    },
    async pause({ key }, paused, signal) {
      const mark = { [annotations.sourcePaused]: paused ? 'true' : null };
      await patch(key, { metadata: { annotations: mark }, spec: { paused: paused ? true : null } }, signal);
    },
    async lose({ key }, atMs, signal) {
      const time = atMs === undefined ? null : formatTime(atMs);
      await patch(key, { metadata: { annotations: { [annotations.sourceLost]: time } } }, signal);
    },
    async remove({ key, uid, source }, signal) {
      const cluster = clusters.get(key);
      // the Cluster of that name may be another by now
      const registered = cluster && toRegistered(cluster);
      if (cluster?.metadata.deletionTimestamp !== undefined) return;
      if (registered?.source !== source || registered.uid !== uid) return;
      const preconditions = cluster?.metadata.uid === undefined ? {} : { preconditions: { uid: cluster.metadata.uid } };
      await client.delete(Clusters, parseKey(key), { signal, ...preconditions });
    },
    async keep({ key }, signal) {
      const cluster = clusters.get(key);
      if (cluster !== undefined) await patch(key, keptPatch(cluster), signal);
    },
    watch(handler) {
      caches.clusters.subscribe((event) => {
        const change = changeOf(event);
        if (change !== undefined) handler(change);
      });
      // a token that ended before its agent registered makes room for the next
      caches.tokens.subscribe(({ type, object }) => {
        const key = type === 'deleted' ? clusterOfToken(object) : undefined;
        const source = key === undefined ? undefined : sourceIn(clusters.get(key));
        if (key !== undefined && source !== undefined) handler({ sources: [source], key, gone: false, initial: false });
      });
    },
    async whenSynced(signal) {
      const needed = [caches.clusters, caches.tokens, caches.requests, caches.serviceAccounts];
      await Promise.all(needed.map((cache) => cache.whenSynced(signal)));
    },
  };
}

const sourceIn = (cluster: Cluster | undefined): string | undefined => (cluster ? sourceOf(cluster) : undefined);

/** Changes that may mean something to a source; heartbeats do not. */
function changeOf({ type, object, previous, initial }: CacheEvent<Cluster>): RegistrarChange | undefined {
  const sources = new Set([sourceOf(object), sourceIn(previous)].filter((source) => source !== undefined));
  const gone = type === 'deleted';
  if (!gone && sources.size === 0) return undefined;
  if (previous !== undefined && JSON.stringify(facts(previous)) === JSON.stringify(facts(object))) return undefined;
  return { sources: [...sources], key: keyOf(object), gone, initial };
}

function facts(cluster: Cluster): unknown[] {
  const { metadata, spec } = cluster;
  return [metadata.generation, metadata.labels, metadata.annotations, spec?.clientID, toRegistered(cluster)];
}

function clusterOfToken({ metadata }: ClusterRegistrationToken): string | undefined {
  const owner = (metadata.ownerReferences ?? []).find(({ kind }) => kind === 'Cluster');
  if (owner === undefined || metadata.name !== agentTokenName(owner.name)) return undefined;
  return `${metadata.namespace ?? ''}/${owner.name}`;
}

/** Without what makes it a rule's. Where its kubeconfig is stays, so that it can still be reached and removed cleanly. */
function keptPatch({ metadata, spec }: Cluster): Record<string, unknown> {
  const abroad = spec?.kubeConfigSecretNamespace ? [annotations.kubeconfig, annotations.endpoint] : [];
  const notes = Object.values(annotations).filter(
    (key) => key in (metadata.annotations ?? {}) && !(abroad as string[]).includes(key),
  );
  return {
    metadata: { uid: metadata.uid, annotations: Object.fromEntries(notes.map((key) => [key, null])) },
    ...(metadata.annotations?.[annotations.sourcePaused] === 'true' ? { spec: { paused: null } } : {}),
  };
}
