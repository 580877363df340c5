/** The main job, as `npm start` does it, with each kind of worker that this machine can run. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Clusters } from '../../api/fleet/kinds.ts';
import { Pods } from '../../api/kubernetes/core.ts';
import type { DemoClusters } from '../../demo/clusters.ts';
import { downstreamNames, startClusters } from '../../demo/clusters.ts';
import { commonConfig } from '../../demo/program-config.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createClient } from '../../runtime/kube/create-client.ts';
import { parseKubeconfig } from '../../runtime/kube/kubeconfig.ts';
import { buildImage } from '../../tools/image/index.ts';
import { pulumiEnvironment } from '../../tools/index.ts';
import { currentRun, nodeSupport } from '../harness/index.ts';
import { PulumiEngine } from '../harness/pulumi-engine.ts';
import { ArgvSampler, collectSecrets, findSecrets, logsBelow, readableObjects, secretsIn } from './secret-scan.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const clientOf = (kubeconfig: string): KubeClient => createClient(parseKubeconfig(kubeconfig, { policy: 'user' }));

// A machine where no node can run takes the process runner for all of it; where one can, both ways are proven.
const workers = nodeSupport().supported
  ? [
      { worker: 'real nodes', processes: false },
      { worker: 'a process runner', processes: true },
    ]
  : [{ worker: 'a process runner', processes: true }];

describe.each(workers)('one pulumi up on $worker', ({ worker, processes }) => {
  let clusters: DemoClusters;
  let engine: PulumiEngine;
  let argv: ArgvSampler;
  let printed = '';
  const clients: Record<string, KubeClient> = {};
  const secrets = new Set<string>();
  const stop = new AbortController();

  beforeAll(async () => {
    argv = new ArgvSampler();
    clusters = await startClusters(await buildImage(), { processes });
    engine = await PulumiEngine.create({
      project,
      env: { ...(await pulumiEnvironment()), PULUMI_CONFIG_PASSPHRASE: 'test' },
      onOutput: (text) => (printed += text),
    });
    const config = [...commonConfig(clusters.hub, 'localhost/muster:dev'), ...clusters.config];
    for (const { key, value, secret } of config) await engine.configure(key, value, { secret: secret === true });
    clients['hub'] = clientOf(clusters.hub.kubeconfig);
    await collectSecrets(clients['hub'], secrets, stop.signal);
    for (const secret of secretsIn(clusters.hub.kubeconfig)) secrets.add(secret);
  }, 180_000);

  afterAll(async () => {
    argv?.stop();
    stop.abort();
    await Promise.all(Object.values(clients).map((client) => client.close()));
    await clusters?.close();
    await engine?.close();
  }, 60_000);

  it('says which worker runs the pods', () => {
    expect(clusters.worker).toContain(worker);
  });

  it('previews while no downstream cluster exists', async () => {
    const { output } = await engine.preview();
    expect(output).toContain('AgentRelease');
    expect(await clusters.downstream()).toEqual({});
  });

  it('registers one cluster by kubeconfig and one by token, and both are Ready', async () => {
    await engine.up();

    for (const [name, file] of Object.entries(await clusters.downstream())) {
      const kubeconfig = await readFile(file, 'utf8');
      for (const secret of secretsIn(kubeconfig)) secrets.add(secret);
      clients[name] = clientOf(kubeconfig);
      await collectSecrets(clients[name], secrets, stop.signal);
    }
    const { items = [] } = (await clients['hub']?.list(Clusters)) ?? {};
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual([...downstreamNames]);
    for (const { status } of items) {
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
      expect(Date.parse(status?.agent?.lastSeen ?? '')).toBeGreaterThan(0);
    }
  }, 300_000);

  it('runs hub and agents as pods that never restarted', async () => {
    expect(Object.keys(clients)).toEqual(['hub', ...downstreamNames]);
    for (const client of Object.values(clients)) {
      // A cluster is Ready with the first heartbeat; its pod a moment later, when it is next asked.
      const containers = async () => {
        const { items } = await client.list(Pods, { namespace: 'cattle-fleet-system' });
        return items.flatMap(({ status }) => status?.containerStatuses ?? []);
      };
      await expect.poll(containers, { timeout: 20_000 }).toMatchObject([{ ready: true, restartCount: 0 }]);
    }
  }, 90_000);

  it('finds nothing to change in a second preview', async () => {
    await engine.preview('--expect-no-changes');
  }, 60_000);

  it('keeps every secret out of state, logs, command lines, conditions and events', async () => {
    const all = Object.values(clients);
    // Admins' tokens of three clusters, two registration tokens, two credentials at least.
    expect(secrets.size).toBeGreaterThanOrEqual(7);

    const { dir } = await currentRun();
    const logs = logsBelow(dir);
    expect(logs.some(({ file }) => file.includes('muster-hub'))).toBe(true);
    expect(logs.some(({ file }) => file.includes('fleet-agent'))).toBe(true);
    const places = [
      { where: 'Pulumi state', text: await engine.storedState() },
      { where: 'Pulumi output', text: printed },
      { where: 'command lines', text: argv.stop() },
      ...(await Promise.all(
        all.map(async (c) => ({ where: `objects of ${c.server}`, text: await readableObjects(c) })),
      )),
      ...logs.map(({ file, text }) => ({ where: file, text })),
    ];
    expect(places.flatMap(({ where, text }) => findSecrets(secrets, where, text))).toEqual([]);
  }, 60_000);

  it('destroys all of it and leaves nothing behind', async () => {
    await engine.destroy();
    expect(await clusters.leftOvers()).toEqual([]);
    expect(await clusters.downstream()).toEqual({});
  }, 300_000);
});
