/**
 * Removing what a dead test run left: processes, cgroups, folders. Everything here may run twice, and in two processes
 * at once, without harm: the reaper of the run does it, and any later run does it again for a run whose reaper died too.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../limits.ts';
import { isAlive, startOf, startOfStat } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** The variable that every process of a run carries, so that even one that left its process group is found. */
export const runVariable = 'MUSTER_HARNESS_RUN';

/** Where a run notes what must end with it; renamed to {@link closedRegistry} by whoever ends it. */
export const openRegistry = 'registry';
export const closedRegistry = 'registry.closed';

/** Ends and removes everything that `runDir` has on record, then the folder itself. */
export async function cleanRun(runDir: string): Promise<void> {
  close(runDir);
  const end = Date.now() + limits.clean;
  while (killAll(runDir) > 0 && Date.now() < end) await pause(limits.pollMin);
  for (const group of recorded(runDir, '.cgroup')) {
    while (!removeCgroup(group) && Date.now() < end) await pause(limits.pollMin);
  }
  for (const file of recorded(runDir, '.file')) rmSync(file, { recursive: true, force: true });
  // A last process may have been writing while its folder was walked.
  rmSync(runDir, { recursive: true, force: true, maxRetries: 10, retryDelay: limits.pollMin });
}

/**
 * From here on nothing can join the run: a process notes itself in the open registry before it becomes the program,
 * and ends when that fails (see managed-process.ts).
 */
function close(runDir: string): void {
  try {
    renameSync(join(runDir, openRegistry), join(runDir, closedRegistry));
  } catch {
    // closed before, by a cleaner that died, or by another one at this moment
  }
}

function recorded(runDir: string, suffix: string): string[] {
  const registry = join(runDir, closedRegistry);
  if (!existsSync(registry)) return [];
  const names = readdirSync(registry).filter((name) => name.endsWith(suffix));
  return names.flatMap((name) => readFileSync(join(registry, name), 'utf8').split('\n').filter(Boolean));
}

/** Sends SIGKILL to everything of the run that lives; returns how many that were. */
function killAll(runDir: string): number {
  const living = recorded(runDir, '.process')
    .flatMap((line) => parseProcess(line) ?? [])
    .filter(isAlive);
  for (const { pid } of living) killGroup(pid);
  const marked = markedProcesses(runDir);
  for (const pid of marked) kill(pid);
  return living.length + marked.length;
}

/** A record is `PID` and then that process's stat line (Linux) or start date. */
export function parseProcess(line: string): ProcessIdentity | undefined {
  const blank = line.indexOf(' ');
  const rest = line.slice(blank + 1).trim();
  const started = process.platform === 'linux' ? startOfStat(rest) : rest;
  return blank < 0 || !started ? undefined : { pid: Number(line.slice(0, blank)), started };
}

/** Living processes whose environment names the run (Linux; elsewhere the process groups must do). */
function markedProcesses(runDir: string): number[] {
  if (process.platform !== 'linux') return [];
  const mark = `${runVariable}=${runDir}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return environment.split('\0').includes(mark) && startOf(pid) !== undefined;
      } catch {
        return false; // ended meanwhile, or somebody else's
      }
    });
}

function killGroup(pid: number): void {
  kill(-pid);
  kill(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ended meanwhile
  }
}

/** Removes a cgroup with its children after killing what is in it; false while it is still busy. */
export function removeCgroup(group: string): boolean {
  if (!existsSync(group)) return true;
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1'); // cgroup v2 only
  } catch {
    killMembers(group);
  }
  try {
    for (const entry of readdirSync(group, { withFileTypes: true })) {
      if (entry.isDirectory() && !removeCgroup(join(group, entry.name))) return false;
    }
    rmdirSync(group);
    return true;
  } catch {
    return !existsSync(group);
  }
}

function killMembers(group: string): void {
  try {
    for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) kill(Number(pid));
  } catch {
    // removed meanwhile
  }
}
