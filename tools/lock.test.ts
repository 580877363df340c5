import { spawnSync } from 'node:child_process';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock } from './lock.mjs';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-lock-'));
  path = join(folder, 'x.lock');
});
afterEach(() => rm(folder, { recursive: true }));

/** A pid that was in use a moment ago and is no more. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

describe('acquireLock', () => {
  it('lets one in at a time and tells the second whom it waits for', async () => {
    const order: string[] = [];
    const waitedFor: number[] = [];
    const release = await acquireLock(path);
    const second = acquireLock(path, { onWait: (pid) => waitedFor.push(pid) }).then((releaseSecond) => {
      order.push('second in');
      return releaseSecond();
    });
    await expect.poll(() => waitedFor).toEqual([process.pid]);
    order.push('first out');
    await release();
    await second;
    expect(order).toEqual(['first out', 'second in']);
  });

  it('leaves nothing behind', async () => {
    await (
      await acquireLock(path)
    )();
    expect(await readdir(folder)).toEqual([]);
  });

  it('breaks the lock of a process that is dead', async () => {
    await writeFile(path, JSON.stringify({ pid: deadPid(), started: '1' }));
    await (
      await acquireLock(path)
    )();
    await expect(access(path)).rejects.toThrow();
  });

  it('breaks the lock of a dead process whose pid another one has now', async () => {
    await writeFile(path, JSON.stringify({ pid: process.pid, started: '1' }));
    await (
      await acquireLock(path)
    )();
    await expect(access(path)).rejects.toThrow();
  });

  it('breaks a lock that holds nothing readable', async () => {
    await writeFile(path, '{"pid":');
    await (
      await acquireLock(path)
    )();
    await expect(access(path)).rejects.toThrow();
  });

  it('never lets two in while many fight for a stale lock', async () => {
    await writeFile(path, JSON.stringify({ pid: deadPid(), started: '1' }));
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const release = await acquireLock(path);
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        await release();
      }),
    );
    expect(most).toBe(1);
  });

  it('stops waiting when told so', async () => {
    const release = await acquireLock(path);
    const abort = new AbortController();
    const second = acquireLock(path, { signal: abort.signal, onWait: () => abort.abort() });
    await expect(second).rejects.toThrow(/abort/i);
    await release();
    expect(await readdir(folder)).toEqual([]);
  });
});
