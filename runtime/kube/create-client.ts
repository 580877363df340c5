/** The {@link KubeClient} over HTTP. */
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { ServiceAccounts } from '../../api/kubernetes/core.ts';
import { durations } from '../../api/durations.ts';
import { isExpired, isNotFound } from './api-error.ts';
import type { ClientConfig } from './client-config.ts';
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  IssuedToken,
  KubeClient,
  ListOptions,
  ListResult,
  WatchEvent,
  WatchOptions,
} from './client.ts';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import type { Query } from './paths.ts';
import { decode } from './response.ts';
import type { Transport, TransportOptions } from './transport.ts';
import { createTransport } from './transport.ts';
import { watchEvents } from './watch-stream.ts';

/** Options of {@link createClient}. */
export interface ClientOptions extends TransportOptions {
  /** Default: `muster`. */
  readonly userAgent?: string;
  /** Requests per second earned back, watches not counted. Default: no limit. */
  readonly qps?: number;
  /** Requests at once before `qps` holds them. Default: twice `qps`. */
  readonly burst?: number;
  /** Connections for everything but watches. Default: 16. */
  readonly maxConnections?: number;
  /** Ask for compressed answers: less traffic, more CPU and memory. Default: false. */
  readonly gzip?: boolean;
}

const contentTypes = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

/** Page size of lists: client-go's default. */
const pageSize = 500;

/** A client with its own connection pool. Nothing is sent before the first call. */
export function createClient(config: ClientConfig, options: ClientOptions = {}): KubeClient {
  const transport = createTransport(config, options);
  const call = caller(transport);
  const client: KubeClient = {
    server: transport.server,
    get: (type, key, callOptions) => call('GET', objectPath(type, key), {}, callOptions),
    async find(type, key, callOptions) {
      try {
        return await client.get(type, key, callOptions);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    list: (type, listOptions) => listAll(call, type, listOptions),
    watch: (type, watchOptions) => watch(transport, type, watchOptions),
    create(type, object, callOptions) {
      const query = { fieldManager: callOptions?.fieldManager };
      const path = collectionPath(type, object.metadata.namespace);
      return call('POST', path, { query, body: stamped(type, object) }, callOptions);
    },
    apply(type, object, applyOptions) {
      const path = objectPath(type, keyOfMeta(object), applyOptions.subresource);
      const body = JSON.stringify(stamped(type, object), withoutManagedFields);
      return call('PATCH', path, { query: applyQuery(applyOptions), text: body, contentType: 'apply' }, applyOptions);
    },
    patch(type, key, patch, patchOptions) {
      const path = objectPath(type, key, patchOptions.subresource);
      const query = { fieldManager: patchOptions.fieldManager };
      return call('PATCH', path, { query, body: patch, contentType: patchOptions.type }, patchOptions);
    },
    replace(type, object, callOptions) {
      const path = objectPath(type, keyOfMeta(object), callOptions?.subresource);
      return call('PUT', path, { body: stamped(type, object) }, callOptions);
    },
    delete: (type, key, deleteOptions) => remove(call, type, key, deleteOptions),
    async createToken(serviceAccount, request, callOptions): Promise<IssuedToken> {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: request };
      const path = objectPath(ServiceAccounts, serviceAccount, 'token');
      const answer = await call<{ status: IssuedToken }>('POST', path, { body, idempotent: true }, callOptions);
      return answer.status;
    },
    raw: (path, rawOptions) =>
      call(
        rawOptions?.method ?? 'GET',
        path,
        rawOptions?.body === undefined ? {} : { body: rawOptions.body },
        rawOptions,
      ),
    close() {
      transport.close();
      return Promise.resolve();
    },
  };
  return client;
}

interface Request {
  readonly query?: Query;
  readonly body?: unknown;
  /** Body that is JSON already. */
  readonly text?: string;
  readonly contentType?: keyof typeof contentTypes;
  readonly idempotent?: boolean;
}

type Call = <R>(method: string, path: string, request: Request, options?: CallOptions) => Promise<R>;

/**
 * POST creates, so sending it twice could make two objects or hide the first answer; a JSON patch may append. Every
 * other call ends in the same state, or in a 409 through its resourceVersion.
 */
function caller(transport: Transport): Call {
  return async <R>(method: string, path: string, request: Request, options: CallOptions = {}): Promise<R> => {
    const text = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
    const response = await transport.send({
      method,
      path: request.query === undefined ? path : withQuery(path, request.query),
      ...(text === undefined ? {} : { body: text }),
      ...(request.contentType === undefined ? {} : { contentType: contentTypes[request.contentType] }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      ...(options.urgent === true ? { urgent: true } : {}),
      idempotent: request.idempotent ?? (method !== 'POST' && request.contentType !== 'json'),
    });
    return decode(response, transport.server, `${method} ${path}`) as R;
  };
}

interface List<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: T[] | null;
}

async function listAll<T extends KubeObject>(
  call: Call,
  type: ResourceType<T>,
  options: ListOptions = {},
): Promise<ListResult<T>> {
  const { namespace, labelSelector, fieldSelector } = options;
  const path = collectionPath(type, namespace);
  const page = (limit: number | undefined, next?: string): Promise<List<T>> =>
    call('GET', path, { query: { labelSelector, fieldSelector, limit, continue: next } }, options);
  const limit = options.limit ?? pageSize;
  let items: T[] = [];
  let next: string | undefined;
  let list: List<T>;
  do {
    try {
      list = await page(limit, next);
    } catch (error) {
      if (!isExpired(error) || next === undefined) throw error;
      // The snapshot of the first pages is gone: one unpaged list is consistent and cannot expire (client-go's pager).
      items = [];
      list = await page(undefined);
    }
    for (const item of list.items ?? []) items.push(stamped(type, item));
    next = list.metadata?.continue === '' ? undefined : list.metadata?.continue;
  } while (next !== undefined);
  return { items, resourceVersion: list.metadata?.resourceVersion ?? '' };
}

async function* watch<T extends KubeObject>(
  transport: Transport,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, signal } = options;
  const { watchShortest, watchLongest, watchInactivity } = durations;
  const path = collectionPath(type, namespace);
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds: Math.round((watchShortest + Math.random() * (watchLongest - watchShortest)) / 1000),
  };
  const withSignal = signal === undefined ? {} : { signal };
  const response = await transport.open({
    method: 'GET',
    path: withQuery(path, query),
    idempotent: true,
    ...withSignal,
  });
  if ('body' in response) {
    decode(response, transport.server, `WATCH ${path}`);
    return;
  }
  options.onOpen?.();
  const inactivityMs = options.timeoutMs ?? watchInactivity;
  yield* watchEvents(response, type, { server: transport.server, inactivityMs, ...withSignal });
}

async function remove(call: Call, type: ResourceType, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: options.propagation,
    preconditions: options.preconditions,
    gracePeriodSeconds: options.gracePeriodSeconds,
  };
  try {
    await call('DELETE', objectPath(type, key), { body }, options);
  } catch (error) {
    if ((options.ignoreNotFound ?? true) && isNotFound(error)) return;
    throw error;
  }
}

function applyQuery(options: ApplyOptions): Query {
  const dryRun = options.dryRun ? 'All' : undefined;
  return { fieldManager: options.fieldManager, force: options.force ?? true, dryRun };
}

/** Lists carry apiVersion and kind once for all items; callers of create and apply may leave them to the type. */
function stamped<T extends KubeObject>(type: ResourceType<T>, object: T): T {
  return { ...object, apiVersion: apiVersionOf(type), kind: type.kind };
}

/** Server-side apply refuses managedFields; an object that was read carries them. */
function withoutManagedFields(key: string, value: unknown): unknown {
  return key === 'managedFields' ? undefined : value;
}

function keyOfMeta(object: KubeObject): ObjectKey {
  const { name = '', namespace } = object.metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}
