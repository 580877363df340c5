/**
 * The typed client that everything above the transport uses. One instance per cluster; it shares that cluster's
 * connection pool, rate limit and metrics.
 */
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call early; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Deadline of one attempt in milliseconds. Default: `durations.requestTimeout`. */
  readonly timeoutMs?: number;
  /** Sent over a connection of its own, so that it never waits behind a burst of other calls. Default: false. */
  readonly urgent?: boolean;
}

export interface ListOptions extends CallOptions {
  /** One namespace; all namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Page size; pages are followed to the end. Default: 500. */
  readonly limit?: number;
}

export interface ListResult<T> {
  readonly items: T[];
  /** Where a watch may start. */
  readonly resourceVersion: string;
}

/** `timeoutMs` is the longest silence here (default: `durations.watchInactivity`); bookmarks come about every minute. */
export interface WatchOptions extends CallOptions {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion: string;
  /** Called once the server has accepted the watch. */
  readonly onOpen?: () => void;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Take over fields of other managers. Default: true, as controllers do. */
  readonly force?: boolean;
  readonly subresource?: 'status';
  readonly dryRun?: boolean;
}

export interface PatchOptions extends CallOptions {
  readonly type: 'merge' | 'json';
  readonly subresource?: 'status';
  readonly fieldManager?: string;
}

export interface DeleteOptions extends CallOptions {
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  /** Refuse (409) unless the stored object still matches. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly gracePeriodSeconds?: number;
  /** Do not throw when the object is already gone. Default: true. */
  readonly ignoreNotFound?: boolean;
}

export interface TokenRequest {
  readonly expirationSeconds: number;
  readonly audiences?: readonly string[];
}

/** A bearer token with the time at which the API server will refuse it. */
export interface IssuedToken {
  readonly token: string;
  readonly expirationTimestamp: string;
}

/** Typed access to one cluster. Every method throws an `ApiError` for an answer of 300 and above. */
export interface KubeClient {
  /** Server URL without a trailing slash; for messages. */
  readonly server: string;
  get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T>;
  /** As `get`, but `undefined` for 404. */
  find<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, options?: CallOptions): Promise<T | undefined>;
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions): Promise<ListResult<T>>;
  /** Ends normally when the server closes the stream; throws `ApiError` 410 when the version is too old. */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    options?: CallOptions & { fieldManager?: string },
  ): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(type: ResourceType<T>, object: T, options: ApplyOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, patch: unknown, options: PatchOptions): Promise<T>;
  /** PUT with the object's resourceVersion: 409 when it changed meanwhile. */
  replace<T extends KubeObject>(
    type: ResourceType<T>,
    object: T,
    options?: CallOptions & { subresource?: 'status' },
  ): Promise<T>;
  delete(type: ResourceType, key: ObjectKey, options?: DeleteOptions): Promise<void>;
  /** TokenRequest for a ServiceAccount. */
  createToken(serviceAccount: Required<ObjectKey>, request: TokenRequest, options?: CallOptions): Promise<IssuedToken>;
  /** JSON of a path that is no resource, such as `/version`. */
  raw(path: string, options?: CallOptions & { method?: string; body?: unknown }): Promise<unknown>;
  /** Closes idle connections and refuses new calls. */
  close(): Promise<void>;
}
