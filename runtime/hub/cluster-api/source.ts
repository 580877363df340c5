/** A source of a cluster, whatever kind it is: what rules select by, and what a registration needs of it. */
import type { SourceKind } from '../../../api/muster/constants.ts';
import type { KubeconfigReference } from '../../../api/muster/kubeconfig-reference.ts';
import type { KubeObject } from '../../../api/resource.ts';

/** Where the kubeconfig of a source is. */
export interface SourceKubeconfig extends KubeconfigReference {
  /** The Secret holds only a token for this cluster: `cluster` of a kubeconfig, without credentials. */
  readonly endpoint?: Readonly<Record<string, unknown>>;
}

/** Why something is not possible (yet), for people and programs. */
export interface Fault {
  /** One of `reasons`. */
  readonly reason: string;
  readonly message: string;
}

export function isFault(value: object): value is Fault {
  return 'reason' in value;
}

export interface Source {
  /** `kind/namespace/name`. */
  readonly key: string;
  readonly kind: SourceKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339; of two sources that want one name, the older has it. */
  readonly createdAt: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** ClusterClass that it was built from. */
  readonly class?: { readonly name: string; readonly namespace: string };
  /** Kubernetes version of its topology. */
  readonly version?: string;
  /** Why its cluster cannot be used yet; absent when it can. */
  readonly notReady?: Fault;
  readonly paused: boolean;
  /** When its deletion began, in milliseconds. */
  readonly deletedAtMs?: number;
  /** The object itself, for events and the finalizer. */
  readonly object: KubeObject;
}

/** `kind/namespace/name`. */
export function sourceKey(kind: SourceKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/** The inverse of {@link sourceKey}; `undefined` for what is none. */
export function parseSourceKey(key: string): { kind: string; namespace: string; name: string } | undefined {
  const [kind = '', namespace = '', name = '', ...more] = key.split('/');
  return kind === '' || namespace === '' || name === '' || more.length > 0 ? undefined : { kind, namespace, name };
}

/** What all kinds have in common. */
export function sourceBase(
  kind: SourceKind,
  { metadata }: KubeObject,
): Pick<Source, 'key' | 'kind' | 'namespace' | 'name' | 'uid' | 'createdAt' | 'labels' | 'annotations'> &
  Partial<Pick<Source, 'deletedAtMs'>> {
  const { namespace = '', name = '', uid = '', creationTimestamp = '', deletionTimestamp } = metadata;
  return {
    key: sourceKey(kind, namespace, name),
    kind,
    namespace,
    name,
    uid,
    createdAt: creationTimestamp,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    ...(deletionTimestamp === undefined ? {} : { deletedAtMs: Date.parse(deletionTimestamp) }),
  };
}
