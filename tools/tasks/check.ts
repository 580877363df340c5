import { buildPackage } from '../build.ts';
import { checkNames, runCheck, type CheckName } from '../check.ts';
import type { Task } from './task.ts';

/** `npm run check`, and with a name only that check: `npm run lint`, `npm run typecheck`. */
export const checkTask =
  (only?: CheckName): Task =>
  async (_args, reporter) => {
    await buildPackage(reporter);
    const names = only === undefined ? checkNames : [only];
    const results = await Promise.all(names.map((name) => runCheck(name, reporter)));
    return results.every((result) => result.passed) ? 0 : 1;
  };
