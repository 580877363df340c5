/**
 * Who may read which answer. A token's account gets `get` on exactly the Secrets that answer requests made with it, in
 * Roles that list their names: one for most tokens, more of them where many clusters register with one token at once, so
 * that no Role, and no write of one, grows with their number.
 */
import type { Role, RoleBinding } from '../../../api/kubernetes/rbac.ts';
import { importCredentialsName } from '../../../api/fleet/names.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { parseKey } from '../../../api/resource.ts';
import type { Cache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import { indexes, namesIn, readerOf } from './caches.ts';
import { ReaderRole } from './reader-role.ts';

export interface CredentialReaders {
  /** Makes ready what the first answer needs; gives no right. */
  prepare(reader: ServiceAccountKey): Promise<void>;
  /** Resolves when the account may read the Secret. */
  allow(reader: ServiceAccountKey, secretName: string): Promise<void>;
  /** Takes the right to read these Secrets back from everyone. */
  revoke(secretNames: ReadonlySet<string>): Promise<void>;
  /** Removes Roles and bindings of an account that is gone. */
  forget(reader: ServiceAccountKey, signal: AbortSignal): Promise<void>;
  /** Names that some Role lists. */
  listed(): Set<string>;
  /** Accounts that have a Role or a binding, `namespace/name`. */
  accounts(): Set<string>;
}

/** Caches of the Roles and RoleBindings of readers. */
export interface ReaderCaches {
  readonly readerRoles: Pick<Cache<Role>, 'list' | 'byIndex'>;
  readonly bindings: Pick<Cache<RoleBinding>, 'list' | 'byIndex'>;
}

/** Names in one Role: a write stays a few KB, and is rarely alone in a burst. */
const namesPerRole = 100;

export function createCredentialReaders(
  client: KubeClient,
  namespace: string,
  caches: ReaderCaches,
): CredentialReaders {
  const readers = new Map<string, Map<string, ReaderRole>>();
  /** By name of a Secret; what an earlier process wrote is in the cache alone. */
  const holders = new Map<string, Set<ReaderRole>>();

  /** The Roles of an account, with those that an earlier process wrote. */
  function rolesOf(account: ServiceAccountKey): Map<string, ReaderRole> {
    const key = `${account.namespace}/${account.name}`;
    const known = readers.get(key);
    if (known !== undefined) return known;
    const stored = new Map(caches.readerRoles.byIndex(indexes.reader, key).map((role) => [nameOf(role), role]));
    const bindings = caches.bindings
      .byIndex(indexes.reader, key)
      .filter((each) => each.metadata.namespace === namespace);
    const bound = new Set(bindings.map(nameOf));
    const made = new Map<string, ReaderRole>();
    for (const name of new Set([...stored.keys(), ...bound])) {
      const role = stored.get(name);
      const state = { names: role && new Set(namesIn(role)), bound: bound.has(name) };
      made.set(name, new ReaderRole(client, account, { namespace, name }, state));
    }
    readers.set(key, made);
    return made;
  }

  /** The Role of an account under a name, which may be yet to be written. */
  function roleOf(account: ServiceAccountKey, name: string): ReaderRole {
    const roles = rolesOf(account);
    const known = roles.get(name);
    if (known !== undefined) return known;
    const made = new ReaderRole(client, account, { namespace, name }, { names: undefined, bound: false });
    roles.set(name, made);
    return made;
  }

  /** The Role that lists the name, else the first that has room. */
  function roleFor(account: ServiceAccountKey, secretName: string): ReaderRole {
    for (const role of rolesOf(account).values()) if (role.has(secretName)) return role;
    const base = importCredentialsName(account.name);
    for (let number = 0; ; number++) {
      const role = roleOf(account, number === 0 ? base : `${base}-${number}`);
      if (role.size < namesPerRole) return role;
    }
  }

  function rolesThatList(secretName: string): Set<ReaderRole> {
    const found = new Set(holders.get(secretName));
    for (const role of caches.readerRoles.byIndex(indexes.answer, secretName)) {
      for (const key of readerOf(role)) found.add(roleOf(parseAccount(key), nameOf(role)));
    }
    return found;
  }

  return {
    async prepare(account) {
      await roleOf(account, importCredentialsName(account.name)).bind();
    },
    async allow(account, secretName) {
      const role = roleFor(account, secretName);
      holders.set(secretName, (holders.get(secretName) ?? new Set()).add(role));
      await role.allow(secretName);
    },
    async revoke(secretNames) {
      const entries = [...secretNames].flatMap((name) => [...rolesThatList(name)].map((role) => ({ name, role })));
      await Promise.all(entries.map(({ name, role }) => role.revoke(name)));
      for (const name of secretNames) holders.delete(name);
    },
    async forget(account, signal) {
      const roles = [...rolesOf(account).values()];
      readers.delete(`${account.namespace}/${account.name}`);
      await Promise.all(roles.map((role) => role.remove(signal)));
    },
    accounts() {
      return new Set([...caches.readerRoles.list(namespace), ...caches.bindings.list(namespace)].flatMap(readerOf));
    },
    listed() {
      return new Set(caches.readerRoles.list().flatMap(namesIn));
    },
  };
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? '';
}

function parseAccount(key: string): ServiceAccountKey {
  const { namespace = '', name } = parseKey(key);
  return { namespace, name };
}
