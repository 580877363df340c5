/** All sources that the hub can see, of three kinds, as one. */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterAPICluster } from '../../../api/cluster-api/cluster.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { ClusterProfile } from '../../../api/multicluster/kinds.ts';
import { registrationFinalizer } from '../../../api/muster/constants.ts';
import type { SourceKind } from '../../../api/muster/constants.ts';
import type { RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { CacheEvent } from '../../kube/cache.ts';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../kube/finalizers.ts';
import type { OptionalCache } from '../../kube/optional-cache.ts';
import type { Overlay } from '../fleet/overlay.ts';
import { createOverlay } from '../fleet/overlay.ts';
import type { WorkspaceSecrets } from '../fleet/workspace-secrets.ts';
import { clusterAPIKubeconfig, fromClusterAPI } from './cluster-api-source.ts';
import type { ProfileLike } from './cluster-profile-source.ts';
import { fromClusterProfile, isOwnProfile, profileKubeconfig } from './cluster-profile-source.ts';
import { fromSecret, secretKubeconfig } from './secret-source.ts';
import type { Fault, Source, SourceKubeconfig } from './source.ts';
import { parseSourceKey } from './source.ts';

export interface Sources {
  get(key: string): Source | undefined;
  /** As `get`; what the caches do not have is looked for. `unknown`: nobody can say whether it is there. */
  find(key: string, signal: AbortSignal): Promise<Source | 'gone' | 'unknown'>;
  list(kind: SourceKind, namespace?: string): Source[];
  /** Where its kubeconfig is, as the rule wants it. */
  kubeconfig(source: Source, spec: RegistrationRuleSpec['source']): SourceKubeconfig | Fault;
  /** Name of the kind's definition when it is not installed. */
  missing(kind: SourceKind): string | undefined;
  hold(source: Source, options: CallOptions): Promise<void>;
  release(source: Source, options: CallOptions): Promise<void>;
  isHeld(source: Source): boolean;
  /** Changes that can matter to a rule. `source` is the state now, the last one for `gone`. */
  watch(handler: (source: Source, change: { readonly gone: boolean; readonly initial: boolean }) => void): void;
}

export interface SourceCaches {
  readonly clusters: OptionalCache<ClusterAPICluster>;
  readonly profiles: OptionalCache<ClusterProfile>;
  readonly secrets: WorkspaceSecrets;
}

/** One kind: its caches, and how its objects are read. */
interface Kind<T extends KubeObject = KubeObject> {
  readonly type: () => ResourceType<T>;
  readonly read: (object: T) => Source;
  readonly get: (key: string) => T | undefined;
  readonly list: (namespace?: string) => T[];
  readonly remember: (object: T) => void;
  readonly subscribe: (handler: (event: CacheEvent<T>) => void) => void;
  /** Whether it can be told, by looking, if an object that the cache has not is there. */
  readonly knowable: (namespace: string, signal: AbortSignal) => Promise<boolean>;
  readonly missing: () => string | undefined;
}

export function createSources(client: KubeClient, { clusters, profiles, secrets }: SourceCaches): Sources {
  const kinds: Readonly<Record<SourceKind, Kind>> = {
    Cluster: optional(clusters, fromClusterAPI),
    ClusterProfile: optional(profiles, (profile) => fromClusterProfile(profile as ProfileLike), isForeign),
    Secret: secretKind(secrets),
  };
  const of = (key: string): { kind: Kind; namespace: string; name: string } | undefined => {
    const parts = parseSourceKey(key);
    const kind = parts && (kinds as Partial<Record<string, Kind>>)[parts.kind];
    return parts && kind && { kind, namespace: parts.namespace, name: parts.name };
  };
  const change = async (source: Source, alter: typeof addFinalizer, options: CallOptions): Promise<void> => {
    const kind = kinds[source.kind];
    kind.remember(await alter(client, kind.type(), source.object, registrationFinalizer, options));
  };

  const get = (key: string): Source | undefined => {
    const place = of(key);
    const object = place?.kind.get(`${place.namespace}/${place.name}`);
    return object && place?.kind.read(object);
  };

  return {
    get,
    async find(key, signal) {
      const known = get(key);
      if (known !== undefined) return known;
      const place = of(key);
      if (place === undefined) return 'gone';
      const { kind, namespace, name } = place;
      if (!(await kind.knowable(namespace, signal))) return 'unknown';
      try {
        // never take anything away because a cache did not have something
        const live = await client.find(kind.type(), { namespace, name }, { signal });
        return live === undefined ? 'gone' : kind.read(live);
      } catch (error) {
        if (isForbidden(error)) return 'unknown';
        throw error;
      }
    },
    list: (kind, namespace) => kinds[kind].list(namespace).map(kinds[kind].read),
    kubeconfig(source, spec) {
      switch (source.kind) {
        case 'Cluster':
          return clusterAPIKubeconfig(source);
        case 'Secret':
          return secretKubeconfig(source, spec);
        case 'ClusterProfile':
          return profileKubeconfig(source.object as ProfileLike, spec);
      }
    },
    missing: (kind) => kinds[kind].missing(),
    hold: (source, options) => change(source, addFinalizer, options),
    release: (source, options) => change(source, removeFinalizer, options),
    isHeld: ({ object }) => hasFinalizer(object, registrationFinalizer),
    watch(handler) {
      for (const kind of Object.values(kinds)) {
        kind.subscribe(({ type, object, previous, initial }) => {
          const now = kind.read(object);
          if (previous !== undefined && isDeepStrictEqual(facts(kind.read(previous)), facts(now))) return;
          handler(now, { gone: type === 'deleted', initial });
        });
      }
    },
  };
}

/** Of a source, what a rule or its end can depend on; its status changes more often. */
function facts({ object, ...source }: Source): unknown[] {
  return [source, object.metadata.finalizers ?? [], source.kind === 'ClusterProfile' ? accessOf(object) : undefined];
}

function accessOf(object: ProfileLike): unknown[] {
  return [object.status?.accessProviders, object.status?.credentialProviders];
}

const isForeign = (profile: KubeObject): boolean => !isOwnProfile(profile);

function optional<T extends KubeObject>(
  cache: OptionalCache<T>,
  read: (object: T) => Source,
  counts: (object: T) => boolean = () => true,
): Kind {
  const overlay: Overlay<T> = createOverlay(cache);
  const kind: Kind<T> = {
    type: () => cache.type,
    read,
    get: (key) => {
      const object = overlay.get(key);
      return object !== undefined && counts(object) ? object : undefined;
    },
    list: (namespace) => cache.list(namespace).filter(counts),
    remember: (object) => overlay.remember(object),
    subscribe: (handler) =>
      void cache.subscribe((event) => {
        if (counts(event.object)) handler(event);
      }),
    // while its definition is away, nothing says what became of the objects
    knowable: () => Promise.resolve(cache.installed && cache.synced),
    missing: () => (cache.synced && !cache.installed ? `${cache.type.plural}.${cache.type.group}` : undefined),
  };
  return kind as unknown as Kind;
}

function secretKind(secrets: WorkspaceSecrets): Kind {
  const kind: Kind<Secret> = {
    type: () => Secrets,
    read: fromSecret,
    get: (key) => secrets.get(key),
    list: (namespace) => secrets.list(namespace),
    remember: (secret) => secrets.remember(secret),
    subscribe: (handler) => secrets.subscribe(handler),
    knowable: async (namespace, signal) => {
      await secrets.whenOpen(namespace, signal);
      return true;
    },
    missing: () => undefined,
  };
  return kind as unknown as Kind;
}
