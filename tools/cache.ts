import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { acquireLock } from './lock.mjs';
import type { Reporter, Step } from './progress.ts';
import { ToolError } from './tool-error.ts';

/** Where built programs and images are kept: `$MUSTER_CACHE`, else `$XDG_CACHE_HOME/muster`, else `~/.cache/muster`. */
export function cacheDir(env: NodeJS.ProcessEnv = process.env): string {
  if (env.MUSTER_CACHE !== undefined && env.MUSTER_CACHE !== '') return env.MUSTER_CACHE;
  if (env.XDG_CACHE_HOME !== undefined && env.XDG_CACHE_HOME !== '') return join(env.XDG_CACHE_HOME, 'muster');
  return join(homedir(), '.cache', 'muster');
}

/** What a cache entry holds and how it is made. */
export interface EntrySpec {
  readonly kind: 'tools' | 'images';
  readonly name: string;
  readonly version: string;
  /** Hash of everything that the content depends on. */
  readonly key: string;
  /** The file names that `build` leaves in its folder; an entry that lacks one of them is not an entry. */
  readonly files: readonly string[];
  /** Makes the files in `folder`; throws a ToolError when it cannot. */
  readonly build: (folder: string, step: Step) => Promise<void>;
}

/** An entry that is whole, and whether this call made it. */
export interface Entry {
  readonly folder: string;
  readonly origin: 'cache' | 'built';
}

interface ManifestFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly sha256: string;
}

const manifestName = 'manifest.json';

/** SHA-256 of a file, hex. */
export async function hashFile(path: string): Promise<string> {
  const hash: Hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** SHA-256 over the parts, hex; their borders count. */
export function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function describeFile(folder: string, name: string): Promise<ManifestFile> {
  const path = join(folder, name);
  const { size, mtimeMs } = await stat(path);
  return { name, size, mtimeMs, sha256: await hashFile(path) };
}

async function isSame(folder: string, file: ManifestFile): Promise<boolean> {
  const found = await stat(join(folder, file.name)).catch(() => undefined);
  if (found === undefined || found.size !== file.size) return false;
  // The content is read only when the file was touched (a restored CI cache, or damage): the usual look is a stat.
  return found.mtimeMs === file.mtimeMs || (await hashFile(join(folder, file.name))) === file.sha256;
}

/** True when the entry's manifest names every file of `files` and all of them are as they were published. */
export async function isWhole(folder: string, files: readonly string[]): Promise<boolean> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as { files: ManifestFile[] };
    const named = new Set(manifest.files.map((file) => file.name));
    if (!files.every((file) => named.has(file))) return false;
    return (await Promise.all(manifest.files.map((file) => isSame(folder, file)))).every(Boolean);
  } catch {
    return false;
  }
}

/** Removes what builds of this entry left behind when their process died; called under the entry's lock. */
async function removeLeftovers(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (name.startsWith(prefix)) await rm(join(parent, name), { recursive: true, force: true });
  }
}

async function makeWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    throw new ToolError('CACHE_NOT_WRITABLE', `cannot write to ${folder}`, {
      what: 'cache',
      hint: 'Set MUSTER_CACHE to a folder that you can write to.',
      cause,
    });
  }
}

/**
 * The entry from the cache, or made now: built beside its place, described in a manifest and published by one rename,
 * so that nobody ever sees half of it. A second process that wants the same entry waits for the first.
 */
export async function cachedEntry(spec: EntrySpec, reporter: Reporter): Promise<Entry> {
  const parent = join(cacheDir(), spec.kind);
  const base = `${spec.name}-${spec.version}-${spec.key.slice(0, 12)}`;
  const folder = join(parent, base);
  if (await isWhole(folder, spec.files)) return { folder, origin: 'cache' };

  await makeWritable(parent);
  const title = `${spec.name} ${spec.version}`;
  let waiting: Step | undefined;
  const release = await acquireLock(join(cacheDir(), 'locks', `${base}.lock`), {
    onWait: (pid) => {
      waiting = reporter.step(`${title}: waiting for process ${pid}, which is making it`);
    },
  });
  waiting?.done();
  try {
    if (await isWhole(folder, spec.files)) return { folder, origin: 'cache' };
    await removeLeftovers(parent, `.${base}.`);
    await makeEntry(spec, folder, join(parent, `.${base}.${process.pid}`), reporter.step(title));
    return { folder, origin: 'built' };
  } finally {
    await release();
  }
}

async function makeEntry(spec: EntrySpec, folder: string, temporary: string, step: Step): Promise<void> {
  try {
    await mkdir(temporary);
    await spec.build(temporary, step);
    const files = await Promise.all(spec.files.map((name) => describeFile(temporary, name)));
    const manifest = { name: spec.name, version: spec.version, key: spec.key, files };
    await writeFile(join(temporary, manifestName), JSON.stringify(manifest, undefined, 2));
    const broken = `${temporary}.broken`;
    await rename(folder, broken).catch(() => undefined);
    await rename(temporary, folder);
    await rm(broken, { recursive: true, force: true });
    step.done();
  } catch (error) {
    step.fail();
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}
