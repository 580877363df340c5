/** Several replicas as real processes: one works; who follows when it ends, is killed, or is frozen and wakes up. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import { Leases } from '../../../api/kubernetes/workloads.ts';
import { hubNames } from '../../../components/fleet/names.ts';
import { FaultProxy, claimPort, poll } from '../../../test/harness/index.ts';
import { httpGet } from '../../../test/harness/http-get.ts';
import { ManagedProcess } from '../../../test/harness/managed-process.ts';
import { ask, answerTo, asToken, createToken } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../../../test/support/running-hub.ts';
import { durations } from '../../../api/durations.ts';
import { formatGoDuration } from '../../../api/duration.ts';

const main = join(import.meta.dirname, '../../../cli/main.ts');
const agentNamespace = 'agents';
/** What the issue allows from the end of one leader to the next. */
const takeover = 15_000;
let hub: RunningHub;
let files: { hub: string; admin: string };
const running: ManagedProcess[] = [];

beforeAll(async () => {
  hub = await startRunningHub('replicas', { started: false });
  const account = { namespace: systemNamespace, name: hubNames.serviceAccount };
  const { token } = await hub.admin.createToken(account, { expirationSeconds: 3600 });
  files = { hub: join(hub.plane.dir, 'hub-kubeconfig'), admin: join(hub.plane.dir, 'edge-kubeconfig') };
  writeFileSync(files.hub, hub.plane.kubeconfigFor({ token }), { mode: 0o600 });
  writeFileSync(files.admin, hub.plane.kubeconfig, { mode: 0o600 });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: agentNamespace } };
  await hub.admin.create(Namespaces, namespace);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop({ signal: 'SIGKILL' })));
});
afterAll(() => hub?.close());

async function start(
  kind: 'hub' | 'agent',
  name: string,
  { kubeconfig, probe = '0' }: { kubeconfig?: string; probe?: string } = {},
): Promise<ManagedProcess> {
  const isHub = kind === 'hub';
  const namespace = isHub ? systemNamespace : agentNamespace;
  const process_ = await ManagedProcess.start({
    name,
    command: process.execPath,
    args: [main, kind, '--kubeconfig', kubeconfig ?? (isHub ? files.hub : files.admin), '--namespace', namespace],
    logFile: join(hub.plane.dir, `${name}.log`),
    env: {
      POD_NAME: name,
      MUSTER_PROBE_BIND_ADDRESS: probe,
      MUSTER_METRICS_BIND_ADDRESS: '0',
      FLEET_AGENT_PROBE_BIND_ADDRESS: '0',
      FLEET_AGENT_METRICS_BIND_ADDRESS: '0',
      // as the manifests of an agent with replicas say
      CATTLE_ELECTION_LEASE_DURATION: formatGoDuration(durations.leaseDuration),
      CATTLE_ELECTION_RENEW_DEADLINE: formatGoDuration(durations.leaseRenewDeadline),
      CATTLE_ELECTION_RETRY_PERIOD: formatGoDuration(durations.leaseRetry),
    },
  });
  running.push(process_);
  return process_;
}

const leases = {
  hub: { namespace: systemNamespace, name: hubNames.lease },
  agent: { namespace: agentNamespace, name: 'fleet-agent' },
};
const leader = async (kind: 'hub' | 'agent'): Promise<string> =>
  (await hub.admin.find(Leases, leases[kind]))?.spec?.holderIdentity ?? '';
const leads = (kind: 'hub' | 'agent', name: string, limitMs: number) =>
  poll(async () => ((await leader(kind)) === name ? true : undefined), { what: `${name} to lead`, limitMs });
/** A process that waits has read the lease some times, so that it knows when it was last renewed. */
const waits = (process_: ManagedProcess) =>
  poll(async () => (process_.logTail(200).includes('waiting for the lease') ? true : undefined), {
    what: 'a standby',
    limitMs: 30_000,
  });

describe.each(['hub', 'agent'] as const)('two replicas of the %s', (kind) => {
  it('given that the leader is killed, when its lease runs out, then the other works within 15 s', async () => {
    const first = await start(kind, `${kind}-a`);
    await leads(kind, `${kind}-a`, 30_000);
    await waits(await start(kind, `${kind}-b`));
    await first.stop({ signal: 'SIGKILL' });
    await leads(kind, `${kind}-b`, takeover);
  }, 90_000);

  it('given that the leader is told to end, when it has ended, then the lease is free and the other works at once', async () => {
    const first = await start(kind, `${kind}-c`);
    await leads(kind, `${kind}-c`, 30_000);
    await waits(await start(kind, `${kind}-d`));
    const ended = await first.stop();
    expect(ended).toMatchObject({ code: 0 });
    await leads(kind, `${kind}-d`, durations.leaseDuration / 2);
  }, 90_000);

  it('given a leader that was frozen while another took over, when it wakes up, then it exits and does not lead on', async () => {
    const frozen = await start(kind, `${kind}-e`);
    await leads(kind, `${kind}-e`, 30_000);
    await waits(await start(kind, `${kind}-f`));
    frozen.signal('SIGSTOP');
    await leads(kind, `${kind}-f`, takeover);
    frozen.signal('SIGCONT');
    expect((await frozen.exited).code).not.toBe(0);
    expect(await leader(kind)).toBe(`${kind}-f`);
  }, 90_000);
});

describe('work', () => {
  it('given that the working hub is killed, when an agent asks, then the other answers', async () => {
    const first = await start('hub', 'hub-g');
    await leads('hub', 'hub-g', 30_000);
    await waits(await start('hub', 'hub-h'));
    await createToken(hub, 'tok');
    const agent = await asToken(hub, 'tok');
    await first.stop({ signal: 'SIGKILL' });
    const request = await ask(agent, { clientID: 'after', token: 'tok' });
    const answer = await poll(() => answerTo(agent, request).catch(() => undefined), {
      what: 'an answer',
      limitMs: 30_000,
    });
    expect(answer).toHaveProperty('token');
  }, 90_000);
});

describe('a hub that leads and cannot read what it needs', () => {
  it('given requests that it may not list, then it says that it is not ready, and answers as soon as it can', async () => {
    // a naive hub holds the lease, calls itself ready, and does nothing (fleet by reading: errors of its start are swallowed)
    await createToken(hub, 'late');
    await using proxy = await FaultProxy.start(hub.plane);
    proxy.fail({ match: { method: 'GET', path: /clusterregistrations/ }, status: 500 });
    const account = { namespace: systemNamespace, name: hubNames.serviceAccount };
    const { token } = await hub.admin.createToken(account, { expirationSeconds: 3600 });
    const kubeconfig = join(hub.plane.dir, 'proxied-kubeconfig');
    writeFileSync(kubeconfig, hub.plane.kubeconfigFor({ token }, proxy), { mode: 0o600 });
    const port = await claimPort();
    const probe = `127.0.0.1:${port.value}`;
    const readyz = async (): Promise<number | undefined> =>
      (await httpGet({ server: `http://${probe}` }, '/readyz'))?.status;
    await start('hub', 'hub-i', { kubeconfig, probe });
    await leads('hub', 'hub-i', 30_000);
    await poll(async () => ((await readyz()) === 500 ? true : undefined), { what: 'the hub to call itself not ready' });
    await poll(() => Promise.resolve(proxy.count({ path: /clusterregistrations/ }) > 5 ? true : undefined), {
      what: 'tries',
    });
    expect(await readyz()).toBe(500);
    proxy.clear();
    await poll(async () => ((await readyz()) === 200 ? true : undefined), { what: 'ready', limitMs: 30_000 });
    const agent = await asToken(hub, 'late');
    expect(await answerTo(agent, await ask(agent, { clientID: 'late', token: 'late' }))).toHaveProperty('token');
    port.release();
  }, 90_000);
});
