/**
 * One Role that lets one account read some answers by name, and its binding. Names that arrive while a write is under
 * way go out together with the next one, so a burst of requests costs a few writes and not two objects for each.
 */
import type { ObjectMeta } from '../../../api/resource.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import type { Role, RoleBinding } from '../../../api/kubernetes/rbac.ts';
import { RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ensureObject } from '../../registration/ensure.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import { hubFieldManager, isManaged, managedLabels } from './context.ts';

/** What is stored already. */
export interface StoredReader {
  /** Names in the Role; `undefined`: there is none. */
  readonly names: ReadonlySet<string> | undefined;
  readonly bound: boolean;
}

export class ReaderRole {
  readonly #client: KubeClient;
  readonly #account: ServiceAccountKey;
  readonly #metadata: ObjectMeta & { readonly name: string; readonly namespace: string };
  readonly #names: Set<string>;
  #stored: ReadonlySet<string> | undefined;
  #bound: boolean;
  #writing: Promise<void> | undefined;
  #binding: Promise<void> | undefined;

  constructor(
    client: KubeClient,
    account: ServiceAccountKey,
    place: { readonly namespace: string; readonly name: string },
    stored: StoredReader,
  ) {
    this.#client = client;
    this.#account = account;
    this.#metadata = {
      ...place,
      labels: { ...managedLabels },
      annotations: { [annotations.serviceAccount]: `${account.namespace}/${account.name}` },
    };
    this.#names = new Set(stored.names);
    this.#stored = stored.names;
    this.#bound = stored.bound;
  }

  /** Names that it lists or is about to list. */
  get size(): number {
    return this.#names.size;
  }

  has(secretName: string): boolean {
    return this.#names.has(secretName);
  }

  /** Resolves when the account may read the Secret. */
  async allow(secretName: string): Promise<void> {
    this.#names.add(secretName);
    const listed = async (): Promise<void> => {
      while (this.#stored?.has(secretName) !== true) await this.#step();
    };
    await Promise.all([listed(), this.bind()]);
  }

  /** Resolves when the account may not read the Secret. */
  async revoke(secretName: string): Promise<void> {
    this.#names.delete(secretName);
    while (this.#stored?.has(secretName) === true) await this.#step();
  }

  /** Makes the binding, which gives nothing while there is no Role. */
  async bind(): Promise<void> {
    if (this.#bound) return;
    this.#binding ??= this.#makeBinding().finally(() => (this.#binding = undefined));
    await this.#binding;
  }

  async remove(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#client.delete(RoleBindings, this.#metadata, { signal }),
      this.#client.delete(Roles, this.#metadata, { signal }),
    ]);
  }

  /** One write at a time; resolves when the one that is under way, or a new one, has ended. */
  async #step(): Promise<void> {
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    await this.#writing;
  }

  async #write(): Promise<void> {
    const names = [...this.#names].sort();
    if (names.length === 0) {
      // a Role without names would allow nothing, or, with the list left out, everything
      await this.#client.delete(Roles, this.#metadata);
      this.#stored = undefined;
      return;
    }
    const role: Role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: this.#metadata,
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: names }],
    };
    await this.#client.apply(Roles, role, { fieldManager: hubFieldManager });
    this.#stored = new Set(names);
  }

  async #makeBinding(): Promise<void> {
    const object: RoleBinding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: this.#metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: this.#metadata.name },
      subjects: [{ kind: 'ServiceAccount', ...this.#account }],
    };
    await ensureObject(
      this.#client,
      { type: RoleBindings, object },
      { fieldManager: hubFieldManager, ours: isManaged },
    );
    this.#bound = true;
  }
}
