import { describe, expect, it } from 'vitest';
import type { Role } from '../../../api/kubernetes/rbac.ts';
import { RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { MemoryCluster } from '../../../test/support/memory-cluster.ts';
import { indexes, namesIn, readerOf } from './caches.ts';
import type { CredentialReaders } from './credential-readers.ts';
import { createCredentialReaders } from './credential-readers.ts';

const namespace = 'cattle-fleet-clusters-system';
const token = { namespace: 'fleet-default', name: 'tok-1' };
const other = { namespace: 'fleet-default', name: 'tok-2' };

/** What a hub knows when it starts on what is stored now. */
function start(cluster: MemoryCluster): CredentialReaders {
  const cache = <T extends KubeObject>(type: ResourceType<T>) => {
    const stored = cluster.all(type);
    const values = (index: string, object: T): string[] =>
      index === indexes.reader ? readerOf(object) : namesIn(object as unknown as Role);
    return {
      list: () => stored,
      byIndex: (index: string, value: string) => stored.filter((object) => values(index, object).includes(value)),
    };
  };
  return createCredentialReaders(cluster.client(), namespace, {
    readerRoles: cache(Roles),
    bindings: cache(RoleBindings),
  });
}

const answers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `c-${from + index}`);
const allowAll = (readers: CredentialReaders, names: readonly string[], account = token) =>
  Promise.all(names.map((name) => readers.allow(account, name)));
const listedBy = (cluster: MemoryCluster): string[] => cluster.all(Roles).flatMap(namesIn).sort();
const writes = (cluster: MemoryCluster): number =>
  cluster.calls.splice(0).filter(({ method }) => method !== 'get').length;

describe('readers of answers', () => {
  it('given a token that is prepared, when its first answer comes, then one write is enough', async () => {
    const cluster = new MemoryCluster('https://hub');
    const readers = start(cluster);
    await readers.prepare(token);
    expect(cluster.all(Roles)).toEqual([]);
    writes(cluster);
    await readers.allow(token, 'c-0');
    expect(writes(cluster)).toBe(1);
    expect(listedBy(cluster)).toEqual(['c-0']);
  });

  it('given many answers at once, then few writes carry them, and no Role lists more than a hundred', async () => {
    const cluster = new MemoryCluster('https://hub');
    const names = answers(250);
    await allowAll(start(cluster), names);
    expect(listedBy(cluster)).toEqual([...names].sort());
    expect(cluster.all(Roles).map((role) => namesIn(role).length)).toEqual([100, 100, 50]);
    expect(cluster.all(RoleBindings)).toHaveLength(3);
    expect(writes(cluster)).toBeLessThan(20);
  });

  it('given a full Role, when answers in it are revoked, then others take their place', async () => {
    const cluster = new MemoryCluster('https://hub');
    const readers = start(cluster);
    await allowAll(readers, answers(100));
    await readers.revoke(new Set(answers(10)));
    await allowAll(readers, answers(10, 100));
    expect(cluster.all(Roles)).toHaveLength(1);
    expect(listedBy(cluster)).toEqual(answers(100, 10).sort());
  });

  it('given a hub that starts again, then it knows what stands, revokes from it, and forgets all of a token', async () => {
    const cluster = new MemoryCluster('https://hub');
    await allowAll(start(cluster), answers(150));
    await start(cluster).allow(other, 'c-other');
    writes(cluster);

    const readers = start(cluster);
    expect([...readers.accounts()].sort()).toEqual(['fleet-default/tok-1', 'fleet-default/tok-2']);
    await readers.allow(token, 'c-149');
    expect(writes(cluster)).toBe(0);
    await readers.revoke(new Set(['c-149', 'c-other']));
    expect(listedBy(cluster)).toEqual(answers(149).sort());
    await readers.forget(token, AbortSignal.timeout(1000));
    expect(cluster.all(Roles)).toEqual([]);
    expect(cluster.all(RoleBindings)).toHaveLength(1);
  });
});
