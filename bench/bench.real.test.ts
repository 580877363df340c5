import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatKubeconfig } from '../runtime/kube/kubeconfig.ts';
import { buildPackage } from '../tools/build.ts';
import { createReporter } from '../tools/progress.ts';
import { parseOptions } from './options.ts';
import type { Target } from './target.ts';
import { openTarget } from './target.ts';

const run = promisify(execFile);
let dir: string;
let target: Target;

beforeAll(async () => {
  await buildPackage(createReporter());
  dir = await mkdtemp(join(tmpdir(), 'muster-bench-'));
  target = await openTarget(parseOptions(['burst']) ?? expect.fail('no options'));
});

afterAll(async () => {
  await target.close();
  rmSync(dir, { recursive: true });
});

/** Runs the benchmark against the hub of this test; returns what it printed. */
async function bench(...args: string[]): Promise<Record<string, unknown>> {
  const { server, ca = '', token = '' } = target.config;
  const hub = join(dir, 'kubeconfig');
  writeFileSync(hub, formatKubeconfig({ server, ca, token }), { mode: 0o600 });
  const pids = target.pids().flatMap((pid) => ['--hub-pid', `${pid}`]);
  const { stdout } = await run(process.execPath, [
    'bench/main.ts',
    ...args,
    '--hub',
    hub,
    ...pids,
    '--runs',
    '1',
    '--json',
  ]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const number = expect.any(Number) as number;

describe('bench', () => {
  it('given a burst on a hub that is there, then one object is printed, with every figure and the ceiling', async () => {
    const figures = {
      perSecond: number,
      p50Ms: number,
      p95Ms: number,
      requestsPerRegistration: number,
      hubCpuMsPerRegistration: number,
      hubRssMb: number,
      ceilingPerSecond: number,
    };
    expect(await bench('burst', '--count', '10', '--workers', '5')).toMatchObject({
      benchmark: 'burst',
      count: 10,
      runs: 1,
      ...figures,
      min: figures,
      max: figures,
    });
  }, 240_000);

  it('given agents on a hub that is there, then it is measured with each number of them', async () => {
    const step = { perSecond: number, requestsPerRegistration: number, hubRssMb: number };
    const size = ['--clusters', '2,4', '--count', '3', '--workers', '3'];
    expect(await bench('scale', ...size)).toMatchObject({
      benchmark: 'scale',
      clusters: 4,
      growth: { growth: number, emptyPerSecond: number, fullPerSecond: number },
      steps: [
        { clusters: 2, ...step },
        { clusters: 4, ...step },
      ],
      heartbeat: { perSecond: number, otherWrites: number },
      restart: null,
    });
  }, 240_000);

  it('given a registration each way, then each leg has its time', async () => {
    expect(await bench('registration')).toMatchObject({
      benchmark: 'registration',
      agentInitiated: { tokenMs: number, registeredMs: number, lastSeenMs: number, requests: number },
      managerInitiated: { agentAppliedMs: number, lastSeenMs: number, requests: number },
    });
  }, 240_000);
});
