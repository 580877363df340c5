/** Writes what was synthesized into a folder that is committed: the same again changes nothing, and what is not ours stays. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { MusterError } from '../../api/errors.ts';

/** A file to be written. */
export interface OutputFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly text: string;
  /** It holds a credential: for its owner only. */
  readonly secret?: boolean;
}

const mark = '# Written by muster synth';

/** The first line of every file of ours that can have a comment. */
export function header(set: string): string {
  return `${mark} ${set}, which overwrites it.\n`;
}

/** The text of a file; undefined when there is none. */
export function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Whether a file is one that we write: by its first line. */
export function isOurs(text: string): boolean {
  return text.startsWith(mark);
}

/**
 * Writes the files. Nothing is written when one of them would replace a file of somebody else, and a file whose text is the
 * same is not touched. Returns their paths.
 * @throws MusterError INVALID_ARGUMENT naming a file that is not ours, or that cannot be written
 */
export function writeFiles(folder: string, files: readonly OutputFile[]): string[] {
  const planned = files.map((file) => ({ ...file, full: join(folder, file.path) }));
  for (const { full, text } of planned) {
    const present = readIfThere(full);
    if (present !== undefined && isOurs(text) && !isOurs(present))
      throw new MusterError('INVALID_ARGUMENT', 'is there and was not written by muster synth', {
        where: full,
        hint: 'Move it away, or name another folder.',
      });
  }
  for (const { full, text, secret = false } of planned) {
    try {
      mkdirSync(dirname(full), { recursive: true });
      // Before the text: a file that was there may be open to others.
      if (secret && existsSync(full)) chmodSync(full, 0o600);
      if (readIfThere(full) !== text) writeFileSync(full, text, { mode: secret ? 0o600 : 0o666 });
    } catch (cause) {
      throw new MusterError('INVALID_ARGUMENT', 'cannot be written', { where: full, cause });
    }
  }
  return planned.map(({ full }) => full);
}

/** Removes files of ours from a folder that are not among `paths`; returns them. Others stay. */
export function removeStale(folder: string, paths: readonly string[]): string[] {
  if (!existsSync(folder)) return [];
  const stale = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name))
    .filter((path) => !paths.includes(path) && isOurs(readFileSync(path, 'utf8')));
  for (const path of stale) rmSync(path);
  return stale;
}

/** Path of a folder below the root of its Git repository, with `/`; the path as given when it is in none. */
export function pathInRepository(folder: string): string {
  const full = resolve(folder);
  for (let root = full; ; root = dirname(root)) {
    const git = join(root, '.git');
    // A folder, or a file in a work tree of its own.
    if (existsSync(git) && (statSync(git).isDirectory() || statSync(git).isFile()))
      return relative(root, full).split(sep).join('/');
    if (root === dirname(root)) return relative('.', full).split(sep).join('/');
  }
}
