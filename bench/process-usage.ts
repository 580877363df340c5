/** CPU time and memory of processes, from /proc. */
import { readFileSync } from 'node:fs';

/** Kernel ticks per second that /proc counts in (Linux: USER_HZ, 100 on every architecture we run on). */
const ticksPerSecond = 100;

/** User and system time of all `pids` so far, in milliseconds; `undefined` when there are none or no /proc. */
export function cpuMs(pids: readonly number[]): number | undefined {
  return sum(pids, (pid) => {
    // The name in parentheses may hold spaces; the fields after it are numbers.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
  });
}

/** Resident memory of all `pids`, in MB (2^20); `undefined` when there are none or no /proc. */
export function rssMb(pids: readonly number[], field: 'VmRSS' | 'RssAnon' | 'VmHWM' = 'VmRSS'): number | undefined {
  return sum(pids, (pid) => {
    const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1]) / 1024;
  });
}

function sum(pids: readonly number[], of: (pid: number) => number): number | undefined {
  if (pids.length === 0) return undefined;
  try {
    return pids.reduce((total, pid) => total + of(pid), 0);
  } catch {
    return undefined;
  }
}
