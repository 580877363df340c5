/** Images without a registry: the one that users run, and two small ones for tests. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { acquireLock } from '../lock.mjs';
import { createReporter, type Reporter } from '../progress.ts';
import { repositoryRoot } from '../repository.ts';
import { fingerprint, writeArchive } from './archive.ts';
import type { ImageDefinition } from './definition.ts';
import { musterImage } from './muster-image.ts';
import { busyboxImage, pauseImage } from './test-images.ts';

export { containerfile, writeContext } from './containerfile.ts';
export { musterImage, musterImageRef } from './muster-image.ts';
export { busyboxImageRef, pauseImageRef } from './test-images.ts';

/** An OCI image archive on disk. */
export interface BuiltImage {
  /** Absolute path of the archive. */
  readonly archive: string;
  /** Name under which a container runtime imports it. */
  readonly ref: string;
  /** `sha256:…` of the image's manifest. */
  readonly digest: string;
  /** Bytes of the archive. */
  readonly size: number;
}

/** Options of the image builders. */
export interface BuildImageOptions {
  /** Where the archive is written. Default: `.muster/images/NAME.tar` in the repository. */
  readonly out?: string;
  readonly reporter?: Reporter;
}

interface Stamp extends BuiltImage {
  readonly inputs: string;
}

async function readStamp(path: string): Promise<Stamp | undefined> {
  try {
    const stamp = JSON.parse(await readFile(path, 'utf8')) as Stamp;
    return (await stat(stamp.archive)).size === stamp.size ? stamp : undefined;
  } catch {
    return undefined;
  }
}

/** Removes what a build left that was ended half-way; called under the archive's lock. */
async function removeLeftovers(archive: string): Promise<void> {
  const prefix = `${basename(archive)}.half-`;
  for (const name of await readdir(dirname(archive))) {
    if (name.startsWith(prefix)) await rm(join(dirname(archive), name), { force: true });
  }
}

/** One archive per checkout and image, replaced when its inputs change: kept by version they would fill a disk. */
async function build(
  name: string,
  define: (reporter: Reporter) => Promise<ImageDefinition>,
  options: BuildImageOptions,
): Promise<BuiltImage> {
  const reporter = options.reporter ?? createReporter();
  const image = await define(reporter);
  const inputs = await fingerprint(image);
  const archive = options.out ?? join(repositoryRoot, '.muster', 'images', `${name}.tar`);
  const stampPath = `${archive}.json`;
  await mkdir(dirname(archive), { recursive: true });
  const release = await acquireLock(`${archive}.lock`, {
    onWait: (pid) => reporter.info(`… image ${image.ref}: waiting for process ${pid}, which makes it`),
  });
  try {
    const stamp = await readStamp(stampPath);
    if (stamp?.inputs === inputs && stamp.archive === archive) {
      return { archive, ref: stamp.ref, digest: stamp.digest, size: stamp.size };
    }
    const step = reporter.step(`image ${image.ref}`);
    const temporary = `${archive}.half-${process.pid}`;
    try {
      await removeLeftovers(archive);
      const built = { archive, ref: image.ref, ...(await writeArchive(image, temporary)) };
      await rename(temporary, archive);
      await writeFile(stampPath, JSON.stringify({ ...built, inputs }));
      step.done(`${(built.size / 1e6).toFixed(1)} MB`);
      return built;
    } catch (error) {
      step.fail();
      await rm(temporary, { force: true });
      throw error;
    }
  } finally {
    await release();
  }
}

/** The muster image; `dist/` must be built. Made again only when something in it changed. */
export function buildImage(options: BuildImageOptions = {}): Promise<BuiltImage> {
  return build('muster', musterImage, options);
}

/** The image that a node needs for every pod. */
export function buildPauseImage(options: BuildImageOptions = {}): Promise<BuiltImage> {
  return build('pause', pauseImage, options);
}

/** A small image with a shell. */
export function buildBusyboxImage(options: BuildImageOptions = {}): Promise<BuiltImage> {
  return build('busybox', busyboxImage, options);
}
