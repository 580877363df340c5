/**
 * One test run: the folder of everything that this process starts, and the reaper that outlives it.
 *
 * The reaper is a shell that waits for the end of a pipe whose other end only this process holds. However this process
 * ends, SIGKILL included, the pipe ends, and the shell turns into the cleaner. Whatever must not outlive the run is
 * noted in the registry folder first and started second, so there is no moment at which something is unknown.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { limits } from '../limits.ts';
import { cleanRun, openRegistry, runVariable } from './clean.ts';
import { isAlive, pidSpace, startOf } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** What a run is known by to other runs. */
interface Owner extends ProcessIdentity {
  readonly space: string;
}

/** The run of this process. */
export interface Run {
  /** Everything made by the run lies below; removed with it. */
  readonly dir: string;
  /** Variables for every process of the run. */
  readonly environment: Readonly<Record<string, string>>;
  /** A fresh folder below `dir`. The name starts with `prefix`. */
  makeDir(prefix: string): string;
  /** Notes cgroup folders or files outside `dir` before they are made; call the result when they are gone. */
  register(kind: 'cgroup' | 'file', paths: readonly string[]): () => void;
  /** Where a process about to start notes itself. */
  processRecord(): string;
}

let current: Promise<Run> | undefined;

/** The run of this process; the first call starts the reaper and sweeps what dead runs left. */
export function currentRun(): Promise<Run> {
  current ??= begin();
  return current;
}

/** The folder of all runs of this user on this machine. */
export function runsDir(): string {
  const dir = join(realpathSync(tmpdir()), `muster-harness-${userInfo().uid}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

async function begin(): Promise<Run> {
  const runs = runsDir();
  const owner: Owner = { pid: process.pid, started: startOf(process.pid) ?? '', space: pidSpace() };
  const dir = mkdtempSync(join(runs, `run-${process.pid}-`));
  mkdirSync(join(dir, openRegistry));
  writeFileSync(join(dir, 'owner.json'), JSON.stringify(owner));
  startReaper(dir);
  await sweep(runs);
  let count = 0;
  const record = (suffix: string): string => join(dir, openRegistry, `${++count}.${suffix}`);
  return {
    dir,
    environment: { [runVariable]: dir },
    makeDir: (prefix) => mkdtempSync(join(dir, `${prefix}-`)),
    register: (kind, paths) => {
      const file = record(kind);
      writeFileSync(file, paths.join('\n'));
      return () => rmSync(file, { force: true });
    },
    processRecord: () => record('process'),
  };
}

function startReaper(dir: string): void {
  const cleaner = fileURLToPath(new URL('supervise.ts', import.meta.url));
  // A shell, because it waits at a megabyte; node is started when there is something to do.
  const script = `trap '' INT TERM HUP QUIT; cat >/dev/null; exec "$@"`;
  const { [runVariable]: _outer, NODE_OPTIONS: _options, ...env } = process.env;
  const args = ['-c', script, 'muster-reaper', process.execPath, '--no-warnings', cleaner, dir];
  const reaper = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env, cwd: '/' });
  reaper.unref();
  (reaper.stdin as Socket).unref();
}

/** Cleans up after runs whose process is gone and whose reaper did not do it (the machine's session was ended whole). */
async function sweep(runs: string): Promise<void> {
  for (const name of readdirSync(runs)) {
    if (name.startsWith('run-') && isDead(join(runs, name))) await cleanRun(join(runs, name));
  }
}

/** True when the run's process is gone. A run that cannot be judged from here counts as living. */
export function isDead(runDir: string): boolean {
  const file = join(runDir, 'owner.json');
  try {
    // Without an owner: about to get one, or its process died in that moment.
    if (!existsSync(file)) return Date.now() - statSync(runDir).mtimeMs > limits.clean;
    const owner = JSON.parse(readFileSync(file, 'utf8')) as Owner;
    return owner.space === pidSpace() && !isAlive(owner);
  } catch {
    return false;
  }
}
