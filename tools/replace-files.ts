import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * Puts the files of the folder `from` in the place of those of `to`, each by one rename, and then removes what is no
 * longer there. Whoever loads a file meanwhile finds the old one or the new one; swapping the folders would leave a moment
 * with none, and a process that loads its modules late would not find them.
 *
 * @param last name of the file that says that the rest is whole: removed first, put there last.
 */
export async function replaceFiles(from: string, to: string, last: string): Promise<void> {
  const names = await filesBelow(from);
  await rm(join(to, last), { force: true });
  const before = await filesBelow(to).catch(() => []);
  for (const name of [...names.filter((each) => each !== last), ...names.filter((each) => each === last)]) {
    const target = join(to, name);
    await mkdir(dirname(target), { recursive: true });
    await rename(join(from, name), target);
  }
  const current = new Set(names);
  await Promise.all(before.filter((name) => !current.has(name)).map((name) => rm(join(to, name), { force: true })));
  await rm(from, { recursive: true, force: true });
}

/** Paths of all files below `folder`, relative to it. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}
