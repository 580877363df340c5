import { buildPackage } from '../build.ts';
import { checkNames, runCheck, type CheckName } from '../check.ts';
import type { Task } from './task.ts';

/** `npm run check`, and with a name only that check: `npm run lint`, `npm run typecheck`. */
export const checkTask =
  (only?: CheckName): Task =>
  async (_args, reporter) => {
    await buildPackage(reporter);
    let code = 0;
    for (const name of only === undefined ? checkNames : [only]) {
      if (!(await runCheck(name, reporter)).passed) code = 1;
    }
    return code;
  };
