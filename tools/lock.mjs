// A lock between processes: a file that names its holder. Plain JavaScript, because the bootstrap needs it before
// Node.js 24 is there. The kernel's file locks cannot be reached from Node.js, hence pid and start time.
import { link, mkdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

/** How often a waiter looks again, in ms: nothing can be watched on every file system, and a build takes minutes. */
const pollMs = 200;
/** A breaker file older than this was left by a process that died while it broke a stale lock, in ms. */
const breakerMs = 10_000;

/** The kernel's start time of a process (field 22 of stat), which tells a reused pid apart; '' where /proc is not there. */
async function startTime(pid) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

async function isAlive(holder) {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  return holder.started === '' || (await startTime(holder.pid)) === holder.started;
}

async function readHolder(path) {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const holder = JSON.parse(text);
    return { pid: Number(holder.pid), started: String(holder.started), text };
  } catch {
    return { pid: 0, started: '', text, broken: true };
  }
}

/** Removes the lock of a dead holder; under a second lock, so that two waiters cannot remove each other's new lock. */
async function breakStale(path, seen) {
  const breaker = `${path}.break`;
  try {
    await writeFile(breaker, String(process.pid), { flag: 'wx' });
  } catch {
    const age = await stat(breaker).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > breakerMs) await rm(breaker, { force: true });
    return;
  }
  try {
    const holder = await readHolder(path);
    if (holder?.text === seen.text) await rm(path, { force: true });
  } finally {
    await rm(breaker, { force: true });
  }
}

let counter = 0;

export async function acquireLock(path, options = {}) {
  await mkdir(dirname(path), { recursive: true });
  counter += 1;
  const mine = `${path}.${process.pid}.${counter}`;
  const text = JSON.stringify({ pid: process.pid, started: await startTime(process.pid), counter });
  // Written beside and linked: the lock never exists without its content.
  await writeFile(mine, text);
  try {
    let told = false;
    for (;;) {
      options.signal?.throwIfAborted();
      try {
        await link(mine, path);
        break;
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      const holder = await readHolder(path);
      if (holder === undefined) continue;
      if (holder.broken === true || !(await isAlive(holder))) {
        await breakStale(path, holder);
        continue;
      }
      if (!told) options.onWait?.(holder.pid);
      told = true;
      await delay(pollMs, undefined, { signal: options.signal });
    }
  } finally {
    await unlink(mine).catch(() => undefined);
  }
  return async () => {
    const holder = await readHolder(path);
    if (holder?.text === text) await rm(path, { force: true });
  };
}
