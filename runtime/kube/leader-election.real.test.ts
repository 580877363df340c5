import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlane, FaultProxy, poll } from '../../test/harness/index.ts';
import type { Lease } from '../../api/kubernetes/workloads.ts';
import { ServiceAccounts } from '../../api/kubernetes/core.ts';
import { RoleBindings, Roles } from '../../api/kubernetes/rbac.ts';
import { Leases } from '../../api/kubernetes/workloads.ts';
import type { KubeClient } from './client.ts';
import { createClient } from './create-client.ts';
import type { LeaderElector } from './leader-election.ts';
import { createLeaderElector } from './leader-election.ts';

let plane: ControlPlane;
let proxy: FaultProxy;
let client: KubeClient;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'leases', controllerManager: false });
  proxy = await FaultProxy.start(plane);
  client = plane.client();
});

afterAll(async () => {
  await client.close();
  await proxy.close();
  await plane.close();
});

const applied = { fieldManager: 'test' };
const fast = { leaseDurationMs: 1500, renewDeadlineMs: 800, retryMs: 100 };

interface Contender {
  elector: LeaderElector;
  leads: Promise<void>;
  /** Whether its work has been told to stop. */
  stopped: () => boolean;
  stop: () => void;
  ended: Promise<void>;
}

function contend(name: string, identity: string, through: KubeClient = client): Contender {
  const elector = createLeaderElector(through, { name, namespace: 'default', identity, ...fast });
  const stopping = new AbortController();
  const started = Promise.withResolvers<void>();
  let work: AbortSignal | undefined;
  const ended = elector.run(stopping.signal, async (signal) => {
    work = signal;
    started.resolve();
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  });
  return {
    elector,
    leads: started.promise,
    stopped: () => work?.aborted ?? false,
    stop: () => stopping.abort(new Error('test over')),
    ended,
  };
}

const lease = (name: string): Promise<Lease> => client.get(Leases, { namespace: 'default', name });

describe('leader election', () => {
  it('lets one lead, keeps renewing, and hands over at once when it ends', async () => {
    // given
    const first = contend('handover', 'first');
    await first.leads;
    const second = contend('handover', 'second');
    const { renewTime } = (await lease('handover')).spec ?? {};
    await poll(async () => ((await lease('handover')).spec?.renewTime === renewTime ? undefined : true), {
      what: 'renewal',
    });
    expect([first.elector.isLeader, second.elector.isLeader]).toEqual([true, false]);

    // when
    first.stop();
    await first.ended;
    await second.leads;

    // then
    expect((await lease('handover')).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    expect(first.elector.isLeader).toBe(false);
    second.stop();
    await second.ended;
    expect((await lease('handover')).spec?.holderIdentity).toBe('');
  });

  it('steps down and says so when it cannot renew, and the next takes over when the lease has run out', async () => {
    // given
    const through = createClient({ server: proxy.server, ca: proxy.ca, token: plane.adminToken, contextName: 'p' });
    const cut = contend('cut-off', 'cut', through);
    await cut.leads;
    const next = contend('cut-off', 'next');

    // when
    proxy.fail({ reset: 'before' });

    // then
    await expect(cut.ended).rejects.toMatchObject({ code: 'CONFLICT', where: 'lease default/cut-off' });
    expect(cut.stopped()).toBe(true);
    expect([cut.elector.isLeader, next.elector.isLeader]).toEqual([false, false]);
    await next.leads;
    proxy.clear();
    next.stop();
    await next.ended;
    await through.close();
  });

  it('ends its work when another has taken the lease', async () => {
    const robbed = contend('robbed', 'victim');
    await robbed.leads;
    const spec = { holderIdentity: 'thief' };
    await client.patch(Leases, { namespace: 'default', name: 'robbed' }, { spec }, { type: 'merge' });
    await expect(robbed.ended).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(robbed.stopped()).toBe(true);
    expect((await lease('robbed')).spec?.holderIdentity).toBe('thief');
  });

  it('goes on leading when someone touches or deletes the lease', async () => {
    const calm = contend('touched', 'calm');
    await calm.leads;
    const key = { namespace: 'default', name: 'touched' };
    await client.patch(Leases, key, { metadata: { labels: { touched: 'yes' } } }, { type: 'merge' });
    const { renewTime } = (await lease('touched')).spec ?? {};
    await poll(async () => ((await lease('touched')).spec?.renewTime === renewTime ? undefined : true), {
      what: 'renewal',
    });
    await client.delete(Leases, key);
    await poll(async () => await client.find(Leases, key), { what: 'the lease to be made again' });
    expect(calm.elector.isLeader).toBe(true);
    calm.stop();
    await calm.ended;
  });

  it('lets its work end before it gives the lease away, and passes its error on', async () => {
    const elector = createLeaderElector(client, { name: 'failing', namespace: 'default', identity: 'x', ...fast });
    const run = elector.run(new AbortController().signal, () => Promise.reject(new Error('cannot work')));
    await expect(run).rejects.toThrow('cannot work');
    expect((await lease('failing')).spec?.holderIdentity).toBe('');
  });

  it('ends quietly when it is stopped before it ever led', async () => {
    const holder = contend('waiting', 'holder');
    await holder.leads;
    const waiter = contend('waiting', 'waiter');
    waiter.stop();
    await waiter.ended;
    expect(waiter.elector.isLeader).toBe(false);
    holder.stop();
    await holder.ended;
  });

  it('leads soon after it may, although it tries rarely while another one leads', async () => {
    // given: a retry period longer than this test may take
    const account = { namespace: 'default', name: 'late' };
    const rbac = 'rbac.authorization.k8s.io';
    const subjects = [{ kind: 'ServiceAccount' as const, ...account }];
    await client.apply(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account }, applied);
    const { token } = await client.createToken(account, { expirationSeconds: 3600 });
    const late = plane.clientFor(token);
    const rare = { leaseDurationMs: 120_000, renewDeadlineMs: 110_000, retryMs: 100_000 };
    const elector = createLeaderElector(late, { name: 'late', namespace: 'default', identity: 'late', ...rare });
    const stopping = new AbortController();
    const leads = Promise.withResolvers<void>();
    const ended = elector.run(stopping.signal, async (signal) => {
      leads.resolve();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    });

    // when
    const rules = [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['*'] }];
    const roleRef = { apiGroup: rbac, kind: 'Role', name: 'late' } as const;
    const common = { apiVersion: `${rbac}/v1`, metadata: account };
    await client.apply(RoleBindings, { ...common, kind: 'RoleBinding', roleRef, subjects }, applied);
    await client.apply(Roles, { ...common, kind: 'Role', rules }, applied);

    // then
    await leads.promise;
    stopping.abort(new Error('test over'));
    await ended;
    await late.close();
  });

  it.each([
    [10, 10, 1],
    [10, 20, 1],
    [30, 10, 10],
    [30, 10, 20],
    [30, 10, 0],
  ])('refuses durations that would let two lead: %i, %i, %i', (leaseDurationMs, renewDeadlineMs, retryMs) => {
    const options = { name: 'x', namespace: 'default', identity: 'x' };
    const make = (times: object) => () => createLeaderElector(client, { ...options, ...times });
    const reason = 'lease duration > renew deadline > retry period';
    expect(make({ leaseDurationMs, renewDeadlineMs, retryMs })).toThrow(reason);
    expect(make({ leaseDurationMs: 30, renewDeadlineMs: 20, retryMs: 10 })).not.toThrow();
  });
});
