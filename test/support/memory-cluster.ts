/**
 * An API server in memory, for tests of what a program does call by call: every call can be made to fail, before or
 * after it took effect. It knows objects, versions, names and preconditions; no schemas, no rights, no watches.
 */
import { randomUUID } from 'node:crypto';
import type { KubeObject, ObjectKey, ResourceType } from '../../api/resource.ts';
import { ApiError } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';

/** One call, as hooks see it. */
export interface Call {
  readonly method: 'get' | 'create' | 'apply' | 'patch' | 'delete' | 'createToken' | 'raw';
  /** Such as `secrets ns/name`. */
  readonly what: string;
}

/** Runs around each call; what it throws is what the caller gets. */
export type Hook = (call: Call) => void | Promise<void>;

export class MemoryCluster {
  readonly server: string;
  readonly objects = new Map<string, KubeObject>();
  readonly calls: Call[] = [];
  before: Hook = () => undefined;
  after: Hook = () => undefined;
  issueToken: (account: Required<ObjectKey>, seconds: number) => string = () => 'issued';
  #version = 0;

  constructor(server: string) {
    this.server = server;
  }

  /** Puts an object there, as if it had always been. */
  add<T extends KubeObject>(type: ResourceType<T>, object: T): void {
    this.#store(address(type, object.metadata), object);
  }

  all<T extends KubeObject>(type: ResourceType<T>): T[] {
    return [...this.objects].filter(([key]) => key.startsWith(`${type.plural} `)).map(([, object]) => object as T);
  }

  one<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): T | undefined {
    return this.objects.get(address(type, key)) as T | undefined;
  }

  /** Only what the agent uses; anything else is missing and fails the test. */
  client(): KubeClient {
    const client: Partial<KubeClient> = {
      server: this.server,
      get: async (type, key) => await this.#run('get', address(type, key), () => this.#get(type, key)),
      find: async (type, key) => await this.#run('get', address(type, key), () => this.one(type, key)),
      create: async (type, object) =>
        await this.#run('create', address(type, object.metadata), () => {
          const at = address(type, object.metadata);
          if (this.objects.has(at)) throw refusal(409, 'AlreadyExists', at);
          return this.#store(at, object);
        }),
      apply: async <T extends KubeObject>(type: ResourceType<T>, object: T) =>
        await this.#run('apply', address(type, object.metadata), () => {
          const at = address(type, object.metadata);
          const stored = this.objects.get(at) as T | undefined;
          return this.#store(at, stored === undefined ? object : merge(stored, object));
        }),
      patch: async (type, key, patch, options) =>
        await this.#run('patch', address(type, key), () => {
          const stored = this.#get(type, key);
          if (options.type === 'json') return this.#jsonPatch(address(type, key), stored, patch);
          const { resourceVersion } = (patch as Partial<KubeObject>).metadata ?? {};
          if (resourceVersion !== undefined && resourceVersion !== stored.metadata.resourceVersion) {
            throw refusal(409, 'Conflict', address(type, key));
          }
          return this.#store(address(type, key), merge(stored, patch));
        }),
      delete: async (type, key, options = {}) =>
        await this.#run('delete', address(type, key), () => {
          const stored = this.one(type, key);
          const { uid, resourceVersion } = options.preconditions ?? {};
          if (stored === undefined) return;
          const { metadata } = stored;
          if (
            (uid ?? metadata.uid) !== metadata.uid ||
            (resourceVersion ?? metadata.resourceVersion) !== metadata.resourceVersion
          ) {
            throw refusal(409, 'Conflict', address(type, key));
          }
          this.objects.delete(address(type, key));
        }),
      createToken: async (account, request) =>
        await this.#run('createToken', address(serviceAccounts, account), () => ({
          token: this.issueToken(account, request.expirationSeconds),
          expirationTimestamp: '',
        })),
      raw: async (path) => await this.#run('raw', path, () => ({})),
      close: async () => Promise.resolve(),
    };
    return client as KubeClient;
  }

  #get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): T {
    const object = this.one(type, key);
    if (object === undefined) throw refusal(404, 'NotFound', address(type, key));
    return object;
  }

  #store<T extends KubeObject>(at: string, object: T): T {
    const { uid = randomUUID(), creationTimestamp = new Date().toISOString() } = object.metadata;
    const metadata = { ...object.metadata, uid, creationTimestamp, resourceVersion: `${++this.#version}` };
    const stored = { ...object, metadata };
    this.objects.set(at, stored);
    return stored;
  }

  #jsonPatch<T extends KubeObject>(at: string, stored: T, patch: unknown): T {
    let changed = stored;
    for (const { op, path, value } of patch as { op: string; path: string; value: unknown }[]) {
      const [parent = '', child = ''] = path.slice(1).split('/');
      const holder = (stored as unknown as Record<string, unknown>)[parent];
      if (op !== 'add' || holder === undefined) throw refusal(422, 'Invalid', at);
      changed = { ...changed, [parent]: { ...(holder as object), [child]: value } };
    }
    return this.#store(at, changed);
  }

  async #run<R>(method: Call['method'], what: string, run: () => R): Promise<R> {
    const call = { method, what };
    this.calls.push(call);
    await this.before(call);
    try {
      return structuredClone(run());
    } finally {
      await this.after(call);
    }
  }
}

const serviceAccounts: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

export function refusal(status: number, reason: string, what: string): ApiError {
  return new ApiError(`${what}: ${reason}`, { status, reason });
}

function address(type: ResourceType, key: { namespace?: string; name?: string }): string {
  return `${type.plural} ${type.namespaced ? `${key.namespace ?? ''}/` : ''}${key.name ?? ''}`;
}

/** RFC 7386. */
function merge<T>(into: T, patch: unknown): T {
  if (!isRecord(patch)) return patch as T;
  const merged: Record<string, unknown> = isRecord(into) ? { ...into } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else if (value !== undefined) merged[key] = merge(merged[key], value);
  }
  return merged as T;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
