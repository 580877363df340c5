import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashOf } from './cache.ts';
import { repositoryRoot } from './repository.ts';

/** Hash of the content of all files that match `patterns` (relative to the repository), their names included. */
export async function hashInputs(patterns: readonly string[], exclude: (path: string) => boolean): Promise<string> {
  const names: string[] = [];
  for await (const entry of glob(patterns, { cwd: repositoryRoot, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name).slice(repositoryRoot.length + 1);
    if (!exclude(path)) names.push(path);
  }
  names.sort();
  const contents = await Promise.all(names.map((name) => readFile(join(repositoryRoot, name), 'utf8')));
  return hashOf(...names, ...contents);
}
