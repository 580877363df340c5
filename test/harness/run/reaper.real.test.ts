import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isolationSupport } from '../network/support.ts';
import { poll } from '../poll.ts';
import { startOf } from './process-identity.ts';

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

interface Started {
  readonly dir: string;
  readonly cgroups: string[];
  readonly pids: number[];
}

const victims: ChildProcess[] = [];
afterEach(() => victims.splice(0).forEach((victim) => victim.kill('SIGKILL')));

/** Starts the test program in a process group of its own, so that a Ctrl-C can be sent to all of it and to nothing else. */
async function victim(what: 'cluster' | 'isolated' | 'processes'): Promise<{ child: ChildProcess; started: Started }> {
  const file = fileURLToPath(new URL('fixtures/victim.ts', import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', file, what], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  victims.push(child);
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    return { child, started: JSON.parse(line) as Started };
  }
  throw new Error(`the test program ended with ${child.exitCode}`);
}

/** Numbers of living processes that name the folder in their arguments or environment (Linux). */
function processesOf(dir: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const files = ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
        return files.some((text) => text.includes(dir)) && startOf(pid) !== undefined;
      } catch {
        return false;
      }
    });
}

/** Network namespaces that some process is in (Linux). */
const networkNamespaces = (): Set<string> =>
  new Set(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          return readlinkSync(`/proc/${pid}/ns/net`);
        } catch {
          return [];
        }
      }),
  );

const gone = (dir: string) =>
  poll(() => (processesOf(dir).length === 0 && !existsSync(dir) ? true : undefined), { what: `${dir} to be gone` });

describe('the reaper', () => {
  it.each(['SIGKILL', 'SIGINT'] as const)(
    'removes a cluster with its node when the test program gets %s',
    async (signal) => {
      const { child, started } = await victim('cluster');
      expect(processesOf(started.dir).length).toBeGreaterThan(2);
      expect(started.cgroups.every((folder) => existsSync(folder))).toBe(true);

      process.kill(-(child.pid ?? 0), signal);

      await gone(started.dir);
      expect(started.cgroups.filter((folder) => existsSync(folder))).toEqual([]);
      if (process.platform === 'linux') expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(started.dir);
    },
  );

  it.runIf(isolationSupport().supported)('removes a cluster with a network of its own after SIGKILL', async () => {
    const machine = () => readFileSync('/proc/net/dev', 'utf8').match(/^ *(wire|uplink|node0|cni0)(?=:)/gm);
    const mounts = () => readFileSync('/proc/self/mountinfo', 'utf8');
    const devices = machine();
    const { child, started } = await victim('isolated');
    const namespaces = started.pids.map((pid) => readlinkSync(`/proc/${pid}/ns/net`));
    expect(new Set(namespaces).size).toBe(2);
    expect(machine()).toEqual(devices);

    child.kill('SIGKILL');

    await gone(started.dir);
    expect(machine()).toEqual(devices);
    expect(namespaces.filter((namespace) => networkNamespaces().has(namespace))).toEqual([]);
    expect(started.cgroups.filter((folder) => existsSync(folder))).toEqual([]);
    for (const trace of [started.dir, ...namespaces]) expect(mounts()).not.toContain(trace);
  });

  it('leaves another run alone', async () => {
    const [first, second] = await Promise.all([victim('processes'), victim('processes')]);

    first.child.kill('SIGKILL');
    await gone(first.started.dir);

    expect(second.started.pids.every((pid) => startOf(pid) !== undefined)).toBe(true);
    expect(existsSync(`${second.started.dir}-outside`)).toBe(true);
    second.child.kill('SIGKILL');
    await gone(second.started.dir);
    expect(existsSync(`${second.started.dir}-outside`)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('is itself replaced by the next run when it was killed too', async () => {
    const first = await victim('processes');
    const reaper = processesOf(first.started.dir).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('muster-reaper'),
    );
    process.kill(reaper ?? 0, 'SIGKILL');
    first.child.kill('SIGKILL');
    await poll(() => (startOf(first.child.pid ?? 0) === undefined ? true : undefined), { what: 'its end' });
    await expect.poll(() => processesOf(first.started.dir).length).toBe(3); // a shell and the two that it started

    const second = await victim('processes');

    expect(processesOf(first.started.dir)).toEqual([]);
    expect(existsSync(first.started.dir)).toBe(false);
    expect(existsSync(second.started.dir)).toBe(true);
  });

  it('lets nothing start once the run is being cleaned up', async () => {
    // What the launcher meets then: the folder in which it notes itself has been renamed.
    const dir = mkdtempSync(join(tmpdir(), 'muster-closed-'));
    const { launcher } = await import('../managed-process.ts');
    const child = spawn('/bin/sh', [
      '-c',
      launcher,
      'x',
      join(dir, 'registry', '1.process'),
      'touch',
      join(dir, 'ran'),
    ]);

    const code = await new Promise((resolve) => child.once('exit', resolve));

    expect(code).toBe(125);
    expect(readdirSync(dir)).toEqual([]);
  });
});
