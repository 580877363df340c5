/** A real Git repository in a folder of its own. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentRun } from '../harness/index.ts';
import { attempt, run } from './shell.ts';
import type { ShellResult } from './shell.ts';

/** Folder of this repository's example programs. */
export const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** The README of an example. */
export const readmeOf = (example: string): string => readFileSync(join(examples, example, 'README.md'), 'utf8');

export interface Repository {
  readonly dir: string;
  /** Path of a file in it. */
  path(name: string): string;
  /** Runs a script in it; throws when that fails. */
  run(script: string): Promise<string>;
  attempt(script: string): Promise<ShellResult>;
  /** `git status --porcelain`: empty when nothing differs from the last commit. */
  status(): Promise<string>;
}

/** `git init`, with the files of an example (all of them, or those named) when one is given; removed with the run. */
export async function createRepository(
  env: NodeJS.ProcessEnv,
  example?: { readonly name: string; readonly files?: readonly string[] },
): Promise<Repository> {
  const dir = (await currentRun()).makeDir('git');
  const options = { cwd: dir, env: { ...env, ...author } };
  await run('git init --quiet', options);
  const files = example?.files ?? (example === undefined ? [] : ['.']);
  for (const file of files) {
    cpSync(join(examples, example?.name ?? '', file), join(dir, file), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  }
  return {
    dir,
    path: (name) => join(dir, name),
    run: (script) => run(script, options),
    attempt: (script) => attempt(script, options),
    status: () => run('git status --porcelain', options),
  };
}

/** Nothing of the machine's own Git settings. */
const author = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'team',
  GIT_AUTHOR_EMAIL: 'team@example.com',
  GIT_COMMITTER_NAME: 'team',
  GIT_COMMITTER_EMAIL: 'team@example.com',
};
