import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseProcess } from './clean.ts';
import { isAlive, startOf, startOfStat } from './process-identity.ts';

const stat = (state: string) => `42 (a) b (c) ${state} 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 10`;

describe('the identity of a process', () => {
  it('is read from a stat line whatever the command is called', () => {
    expect(startOfStat(stat('S'))).toBe('987654');
  });

  it('is that of nobody for a zombie', () => {
    expect(startOfStat(stat('Z'))).toBeUndefined();
  });

  it('does not fit a later process of the same number', () => {
    const started = startOf(process.pid) ?? '';

    expect(isAlive({ pid: process.pid, started })).toBe(true);
    expect(isAlive({ pid: process.pid, started: `${started}0` })).toBe(false);
  });

  it('ends with the process', async () => {
    const child = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const identity = { pid: child.pid ?? 0, started: startOf(child.pid ?? 0) ?? '' };
    expect(isAlive(identity)).toBe(true);

    child.stdin.end();
    await new Promise((resolve) => child.once('exit', resolve));

    expect(isAlive(identity)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('is read from a record; a torn one is nobody', () => {
    expect(parseProcess(`42 ${stat('S')}`)).toEqual({ pid: 42, started: '987654' });
    expect(parseProcess('')).toBeUndefined();
    expect(parseProcess('42 ')).toBeUndefined();
  });
});
