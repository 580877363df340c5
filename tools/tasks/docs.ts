import { join } from 'node:path';
import process from 'node:process';
import { exec } from '../exec.ts';
import { npmBinFolder, repositoryRoot } from '../repository.ts';
import type { Task } from './task.ts';

/** `npm run docs`: writes docs/reference/ and docs/errors.md from api/. The test that compares them does the writing. */
export const docsTask: Task = async (_args, reporter) => {
  const vitest = join(npmBinFolder, 'vitest');
  const result = await exec(process.execPath, [vitest, 'run', 'api/docs.test.ts', '--update'], { cwd: repositoryRoot });
  reporter.info((result.stdout + result.stderr).trimEnd());
  return result.code ?? 1;
};
