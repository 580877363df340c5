/** Telling a process from a later one that got the same number. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

/** A process: its number and when it started. Both together are unique until the machine restarts. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; clock ticks since boot on Linux, a date elsewhere. */
  readonly started: string;
}

/** When the process started, or undefined when there is none (a zombie counts as none: nothing of it is left to end). */
export function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') return startOfStat(read(`/proc/${pid}/stat`));
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined; // ps answers 1 for a process that does not exist
  }
}

/** True while that very process lives. */
export function isAlive(identity: ProcessIdentity): boolean {
  return startOf(identity.pid) === identity.started;
}

/**
 * The start time in a line of /proc/PID/stat (proc(5): field 22; field 3 is the state). The command in field 2 may hold
 * blanks and parentheses, so fields are counted from the last one.
 */
export function startOfStat(stat: string): string | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

/** What distinguishes this machine's process numbers from those of a container that shares its temp folder. */
export function pidSpace(): string {
  if (process.platform !== 'linux') return process.platform;
  return `${read('/proc/sys/kernel/random/boot_id').trim()} ${readLink('/proc/self/ns/pid')}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
