import { buildPackage } from '../build.ts';
import type { Task } from './task.ts';

/** `npm run build [-- --ignore-type-errors]` */
export const buildTask: Task = async (args, reporter) => {
  await buildPackage(reporter, { ignoreTypeErrors: args.includes('--ignore-type-errors') });
  return 0;
};
