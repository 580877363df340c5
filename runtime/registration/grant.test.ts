import { describe, expect, it } from 'vitest';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { RoleBindings } from '../../api/kubernetes/rbac.ts';
import type { KubeObject } from '../../api/resource.ts';
import { MemoryCluster } from '../../test/support/memory-cluster.ts';
import { ensureObject } from './ensure.ts';
import type { GrantPlan } from './grant.ts';
import { carryOutGrant } from './grant.ts';
import type { GrantObject } from './types.ts';

const metadata = (name: string) => ({ name, namespace: 'ns', labels: { managed: 'yes' } });
const options = { fieldManager: 'test', ours: (object: KubeObject) => object.metadata.labels?.['managed'] === 'yes' };
const account: GrantObject = {
  type: ServiceAccounts,
  object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata('agent') },
};
const binding = {
  type: RoleBindings,
  object: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: metadata('agent'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
    subjects: [{ kind: 'ServiceAccount', name: 'agent', namespace: 'ns' }],
  },
} as GrantObject;
const secret = (token: string): GrantObject<Secret> => ({
  type: Secrets,
  object: { apiVersion: 'v1', kind: 'Secret', metadata: metadata('answer'), data: { token } },
});

function plan(changes: Partial<GrantPlan> = {}): GrantPlan {
  return {
    rights: [[account, binding]],
    checks: [],
    issue: () => Promise.resolve({ token: 'bearer' }),
    publish: ({ token }) => secret(token),
    ...changes,
  };
}

describe('a grant', () => {
  it('given a plan, when carried out, then the credential is the last to be written', async () => {
    const cluster = new MemoryCluster('memory');
    const order: string[] = [];
    cluster.after = ({ method, what }) => void order.push(`${method} ${what.split(' ')[0] ?? ''}`);
    const show = [() => Promise.resolve(void order.push('show'))];
    await carryOutGrant(cluster.client(), plan({ show }), options);
    expect(order.slice(0, 2).sort()).toEqual(['create rolebindings', 'create serviceaccounts']);
    expect(order.slice(2).sort()).toEqual(['create secrets', 'show']);
  });

  it.each(['serviceaccounts', 'rolebindings'])(
    'given that %s cannot be written, when carried out, then nothing is published',
    async (kind) => {
      const cluster = new MemoryCluster('memory');
      cluster.before = ({ what }) => {
        if (what.startsWith(kind)) throw new Error('refused');
      };
      await expect(carryOutGrant(cluster.client(), plan(), options)).rejects.toThrow('refused');
      expect(cluster.all(Secrets)).toEqual([]);
    },
  );

  it('given that the agent cannot be let see it, when carried out, then the grant fails and can be repeated', async () => {
    const cluster = new MemoryCluster('memory');
    const show = [() => Promise.reject(new Error('no reader'))];
    await expect(carryOutGrant(cluster.client(), plan({ show }), options)).rejects.toThrow('no reader');
    await carryOutGrant(cluster.client(), plan(), options);
    expect(cluster.all(Secrets)).toHaveLength(1);
  });

  it('given an earlier run that ended anywhere, when carried out again, then all is there once', async () => {
    for (let at = 1; at <= 3; at++) {
      const cluster = new MemoryCluster('memory');
      let calls = 0;
      cluster.after = () => {
        if (++calls === at) throw new Error('crashed');
      };
      await carryOutGrant(cluster.client(), plan(), options).catch(() => undefined);
      cluster.after = () => undefined;
      await carryOutGrant(cluster.client(), plan(), options);
      expect(
        [cluster.all(ServiceAccounts), cluster.all(RoleBindings), cluster.all(Secrets)].map((list) => list.length),
      ).toEqual([1, 1, 1]);
    }
  });
});

describe('making one object', () => {
  it('given none, when made, then it costs one request', async () => {
    const cluster = new MemoryCluster('memory');
    await ensureObject(cluster.client(), account, options);
    expect(cluster.calls).toHaveLength(1);
  });

  it('given one of someone else, when made, then it is left as it is', async () => {
    const cluster = new MemoryCluster('memory');
    cluster.add(Secrets, { ...secret('theirs').object, metadata: { name: 'answer', namespace: 'ns' } });
    await expect(ensureObject(cluster.client(), secret('ours'), options)).rejects.toMatchObject({
      code: 'ALREADY_OWNED',
    });
    expect(cluster.one(Secrets, { namespace: 'ns', name: 'answer' })?.data).toEqual({ token: 'theirs' });
  });

  it('given one of ours that differs, when made, then it is corrected', async () => {
    const cluster = new MemoryCluster('memory');
    cluster.add(Secrets, secret('old').object);
    await ensureObject(cluster.client(), secret('new'), options);
    expect(cluster.one(Secrets, { namespace: 'ns', name: 'answer' })?.data).toEqual({ token: 'new' });
  });
});
