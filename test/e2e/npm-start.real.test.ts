/** `npm start` as a process: with clusters that are given to it, and interrupted. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostNetworkConfig } from '../../demo/program-config.ts';
import { buildImage } from '../../tools/image/index.ts';
import { startLocalCluster } from '../harness/index.ts';
import type { LocalCluster } from '../harness/index.ts';
import { leftOver, takeInventory } from '../harness/inventory.ts';

const main = fileURLToPath(new URL('../../demo/main.ts', import.meta.url));
const bundle = fileURLToPath(new URL('../../dist/bin/muster.cjs', import.meta.url));

/** Runs the demo; `output` grows as it prints. */
function start(...args: string[]): { child: ChildProcess; ended: Promise<number | null>; output: () => string } {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, output: () => text };
}

describe('npm start with given clusters', () => {
  let clusters: LocalCluster[] = [];

  beforeAll(async () => {
    const image = await buildImage();
    const processImages = { [image.ref]: { command: { muster: [process.execPath, bundle] } } };
    const options = { images: [image.archive], processImages };
    clusters = await Promise.all(['hub', 'edge'].map((name) => startLocalCluster({ ...options, name })));
  }, 120_000);
  afterAll(() => Promise.all(clusters.map((cluster) => cluster.close())));

  it('registers them, shows them, and rids them of everything again', async () => {
    const [hub, edge] = clusters;
    if (hub === undefined || edge === undefined) throw new Error('the clusters did not start');
    const clients = clusters.map(({ plane }) => plane.client());
    const before = await Promise.all(clients.map(takeInventory));
    const config = hostNetworkConfig(hub.plane.server, { east: edge.plane.server });

    const run = start(
      '--once',
      ...['--hub-kubeconfig', hub.plane.kubeconfigPath, '--cluster-kubeconfig', edge.plane.kubeconfigPath],
      ...['--image', 'localhost/muster:dev', ...config.flatMap(({ key, value }) => ['--config', `${key}=${value}`])],
    );
    expect(await run.ended, run.output()).toBe(0);

    expect(run.output()).toMatch(/fleet-default +east +True/);
    expect(run.output()).toContain('Nothing is left');
    const after = await Promise.all(clients.map(takeInventory));
    expect(after.flatMap((lines, i) => leftOver(before[i] ?? new Set(), lines))).toEqual([]);
    await Promise.all(clients.map((client) => client.close()));
  }, 300_000);

  it('says what is wrong with a kubeconfig that is none, and changes nothing', async () => {
    const run = start('--once', '--hub-kubeconfig', main, '--cluster-kubeconfig', main);
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('kubeconfig');
  }, 60_000);
});

describe('npm start that is interrupted', () => {
  /** Processes that belong to the run of a process: they carry its folder in their environment. */
  const processesOf = (pid: number | undefined): string[] =>
    readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(`/run-${pid}-`);
      } catch {
        return false; // ended meanwhile
      }
    });

  it.runIf(process.platform === 'linux')(
    'ends with everything that it had started',
    async () => {
      const run = start('--processes');
      await expect.poll(run.output, { timeout: 90_000 }).toContain('HubRelease');
      expect(processesOf(run.child.pid).length).toBeGreaterThan(3);

      run.child.kill('SIGINT');

      expect(await run.ended, run.output()).toBe(130);
      await expect.poll(() => processesOf(run.child.pid), { timeout: 10_000 }).toEqual([]);
    },
    180_000,
  );
});
