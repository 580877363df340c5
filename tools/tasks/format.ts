import { join } from 'node:path';
import process from 'node:process';
import { exec } from '../exec.ts';
import { npmBinFolder, repositoryRoot } from '../repository.ts';
import type { Task } from './task.ts';

/** `npm run format [-- PATH…]`: writes every file as Prettier wants it. */
export const formatTask: Task = async (args, reporter) => {
  const paths = args.length === 0 ? ['.'] : args;
  const result = await exec(process.execPath, [join(npmBinFolder, 'prettier'), '--write', ...paths], {
    cwd: repositoryRoot,
  });
  reporter.info((result.stdout + result.stderr).trimEnd());
  return result.code ?? 1;
};
