import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exec, type ExecResult } from '../exec.ts';

/** A file in the folder of a module. */
export interface ModuleFile {
  readonly module: string;
  readonly path: string;
}

/** Flags for `go list` and `go build` that show files of other modules as if they lay beside our main package. */
export interface Overlay {
  readonly flags: readonly string[];
  /** Removes the file that the flags name. */
  readonly remove: () => Promise<void>;
}

/**
 * Lays `embeds` into `cwd` for the compiler alone: nothing is copied, and nothing of another project is kept here.
 * Resolves with the call that failed when a module cannot be had.
 *
 * @param file where the list is written; it must not exist.
 */
export async function overlay(
  embeds: Readonly<Record<string, ModuleFile>>,
  cwd: string,
  env: NodeJS.ProcessEnv,
  file: string,
): Promise<Overlay | ExecResult> {
  const replace: Record<string, string> = {};
  for (const [name, { module, path }] of Object.entries(embeds)) {
    const result = await exec('go', ['mod', 'download', '-json', module], { cwd, env });
    if (result.code !== 0) return result;
    const { Dir: folder } = JSON.parse(result.stdout) as { Dir: string };
    replace[join(cwd, name)] = join(folder, path);
  }
  if (Object.keys(replace).length === 0) return { flags: [], remove: () => Promise.resolve() };
  await writeFile(file, JSON.stringify({ Replace: replace }));
  return { flags: ['-overlay', file], remove: () => rm(file, { force: true }) };
}
