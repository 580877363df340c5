/** The hub as a real process that is killed (SIGKILL) again and again while agents register. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labels, secretTypes } from '../../../api/fleet/constants.ts';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { BundleDeployments, ClusterRegistrations, Clusters } from '../../../api/fleet/kinds.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { hubNames } from '../../../components/fleet/names.ts';
import { poll } from '../../../test/harness/index.ts';
import { ManagedProcess } from '../../../test/harness/managed-process.ts';
import { ask, answerTo, asToken, createToken, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub, systemNamespace } from '../../../test/support/running-hub.ts';

const main = join(import.meta.dirname, '../../../cli/main.ts');
let hub: RunningHub;

beforeAll(async () => {
  hub = await startRunningHub('killed', { started: false });
});
afterAll(() => hub?.close());

async function spawnHub(kubeconfig: string): Promise<ManagedProcess> {
  return await ManagedProcess.start({
    name: 'muster-hub',
    command: process.execPath,
    args: [main, 'hub', '--kubeconfig', kubeconfig, '--namespace', systemNamespace],
    logFile: join(hub.plane.dir, 'muster-hub.log'),
    // the same name each time, as a StatefulSet's pod: it takes its own lease back at once
    env: { MUSTER_PROBE_BIND_ADDRESS: '0', MUSTER_METRICS_BIND_ADDRESS: '0', POD_NAME: 'hub-0' },
  });
}

describe('a hub that is killed while agents register', () => {
  it('given that it is started again each time, when all is quiet, then every agent has one answer that works', async () => {
    const account = { namespace: systemNamespace, name: hubNames.serviceAccount };
    const { token } = await hub.admin.createToken(account, { expirationSeconds: 3600 });
    const kubeconfig = join(hub.plane.dir, 'hub-kubeconfig');
    writeFileSync(kubeconfig, hub.plane.kubeconfigFor({ token }), { mode: 0o600 });
    let running = await spawnHub(kubeconfig);
    await createToken(hub, 'tok');
    const agent = await asToken(hub, 'tok');

    const requests: ClusterRegistration[] = [];
    const grantedCount = async (): Promise<number> => {
      const { items } = await hub.admin.list(ClusterRegistrations, { namespace: workspace });
      return items.filter(({ status }) => status?.granted === true).length;
    };
    for (let round = 0; round < 4; round++) {
      const names = Array.from({ length: 15 }, (_, index) => `killed-${round}-${index}`);
      requests.push(...(await Promise.all(names.map((clientID) => ask(agent, { clientID, token: 'tok' })))));
      // in the middle of this round's registrations, wherever that is
      const enough = round * 15 + 3;
      await poll(async () => ((await grantedCount()) >= enough ? true : undefined), {
        what: 'some grants',
        limitMs: 40_000,
      });
      await running.stop({ signal: 'SIGKILL' });
      running = await spawnHub(kubeconfig);
    }
    const answers = await Promise.all(requests.map((request) => answerTo(agent, request)));
    await poll(async () => ((await grantedCount()) === requests.length ? true : undefined), {
      what: 'all grants',
      limitMs: 40_000,
    });
    await Promise.all(
      answers.map(async (answer) => {
        const namespace = answer['deploymentNamespace'] ?? '';
        expect((await hub.asBearer(answer['token'] ?? '').list(BundleDeployments, { namespace })).items).toEqual([]);
        const { items } = await hub.admin.list(ServiceAccounts, { namespace, labelSelector: `${labels.managed}=true` });
        expect(items).toHaveLength(1);
      }),
    );
    const [clusters, secrets] = await Promise.all([
      hub.admin.list(Clusters, { namespace: workspace }),
      hub.admin.list(Secrets, { namespace: registrationNamespace }),
    ]);
    expect(clusters.items).toHaveLength(requests.length);
    const answersThere = secrets.items.filter(({ type }) => type === secretTypes.agentCredential);
    expect(answersThere).toHaveLength(requests.length);
    await running.stop();
    const log = readFileSync(running.logFile, 'utf8');
    for (const answer of answers) expect(log.includes(answer['token'] ?? '')).toBe(false);
  }, 180_000);
});
