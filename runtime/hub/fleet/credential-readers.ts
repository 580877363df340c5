/**
 * Who may read which answer. A token's account gets `get` on exactly the Secrets that answer requests made with it, in
 * one Role per token that lists their names. Names that arrive while a write is under way go out together with the next
 * one, so a burst of requests costs a few writes and not two objects for each.
 */
import type { Role, RoleBinding } from '../../../api/kubernetes/rbac.ts';
import { RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import { annotations } from '../../../api/fleet/constants.ts';
import { importCredentialsName } from '../../../api/fleet/names.ts';
import type { Cache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import { ensureObject } from '../../registration/ensure.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import { hubFieldManager, isManaged, managedLabels } from './context.ts';

export interface CredentialReaders {
  /** Resolves when the account may read the Secret. */
  allow(reader: ServiceAccountKey, secretName: string): Promise<void>;
  /** Takes the right to read these Secrets back from everyone. */
  revoke(secretNames: ReadonlySet<string>): Promise<void>;
  /** Removes Role and binding of an account that is gone. */
  forget(reader: ServiceAccountKey, signal: AbortSignal): Promise<void>;
  /** Names that some Role lists. */
  listed(): Set<string>;
  /** Accounts that have a Role, `namespace/name`. */
  accounts(): string[];
}

interface Reader {
  readonly account: ServiceAccountKey;
  readonly names: Set<string>;
  /** What the stored Role lists; `undefined` while there is none. */
  stored: ReadonlySet<string> | undefined;
  bound: boolean;
  running: Promise<void> | undefined;
}

export function createCredentialReaders(client: KubeClient, namespace: string, roles: Cache<Role>): CredentialReaders {
  const readers = new Map<string, Reader>();

  function reader(account: ServiceAccountKey): Reader {
    const key = `${account.namespace}/${account.name}`;
    const known = readers.get(key);
    if (known !== undefined) return known;
    const role = roles.get(`${namespace}/${importCredentialsName(account.name)}`);
    const stored = role === undefined ? undefined : new Set(namesOf(role));
    const made: Reader = { account, names: new Set(stored), stored, bound: role !== undefined, running: undefined };
    readers.set(key, made);
    return made;
  }

  /** One write at a time for each reader; resolves when the one that is under way, or a new one, has ended. */
  async function step(target: Reader): Promise<void> {
    target.running ??= write(target).finally(() => {
      target.running = undefined;
    });
    await target.running;
  }

  async function write(target: Reader): Promise<void> {
    const names = [...target.names].sort();
    const metadata = {
      name: importCredentialsName(target.account.name),
      namespace,
      labels: { ...managedLabels },
      annotations: { [annotations.serviceAccount]: `${target.account.namespace}/${target.account.name}` },
    };
    if (names.length === 0) {
      // a Role without names would allow nothing, or, with the list left out, everything
      await client.delete(Roles, metadata);
      target.stored = undefined;
      return;
    }
    const role: Role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: names }],
    };
    const options = { fieldManager: hubFieldManager };
    await Promise.all([client.apply(Roles, role, options), target.bound ? undefined : bind(target, metadata)]);
    target.bound = true;
    target.stored = new Set(names);
  }

  async function bind(target: Reader, metadata: RoleBinding['metadata']): Promise<void> {
    const object: RoleBinding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name ?? '' },
      subjects: [{ kind: 'ServiceAccount', ...target.account }],
    };
    await ensureObject(client, { type: RoleBindings, object }, { fieldManager: hubFieldManager, ours: isManaged });
  }

  /** Readers of the Roles that an earlier process wrote are known, too. */
  function loadAll(): void {
    for (const role of roles.list()) {
      const [accountNamespace, name] = (role.metadata.annotations?.[annotations.serviceAccount] ?? '').split('/');
      if (accountNamespace && name) reader({ namespace: accountNamespace, name });
    }
  }

  return {
    async allow(account, secretName) {
      const target = reader(account);
      target.names.add(secretName);
      while (target.stored?.has(secretName) !== true) await step(target);
    },
    async revoke(secretNames) {
      loadAll();
      const lists = (target: Reader): boolean => [...secretNames].some((name) => target.stored?.has(name) === true);
      await Promise.all(
        [...readers.values()].map(async (target) => {
          for (const name of secretNames) target.names.delete(name);
          while (lists(target)) await step(target);
        }),
      );
    },
    async forget(account, signal) {
      const key = { namespace, name: importCredentialsName(account.name) };
      const known = readers.get(`${account.namespace}/${account.name}`);
      if (known?.bound !== true && roles.get(`${namespace}/${key.name}`) === undefined) return;
      readers.delete(`${account.namespace}/${account.name}`);
      await Promise.all([client.delete(RoleBindings, key, { signal }), client.delete(Roles, key, { signal })]);
    },
    accounts() {
      return roles.list().flatMap(({ metadata }) => metadata.annotations?.[annotations.serviceAccount] ?? []);
    },
    listed() {
      return new Set(roles.list().flatMap(namesOf));
    },
  };
}

function namesOf(role: Role): string[] {
  return (role.rules ?? []).flatMap((rule) => rule.resourceNames ?? []);
}
