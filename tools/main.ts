import process from 'node:process';
import { createReporter } from './progress.ts';
import { bench, start, synth } from './tasks/programs.ts';
import { buildTask } from './tasks/build.ts';
import { checkTask } from './tasks/check.ts';
import { docsTask } from './tasks/docs.ts';
import { formatTask } from './tasks/format.ts';
import { imageTask } from './tasks/image.ts';
import { interopTask } from './tasks/interop.ts';
import { testTask } from './tasks/test.ts';
import { toolsTask } from './tasks/tools.ts';
import type { Task } from './tasks/task.ts';
import { ToolError } from './tool-error.ts';

const tasks: Readonly<Record<string, Task>> = {
  bench,
  build: buildTask,
  check: checkTask(),
  docs: docsTask,
  format: formatTask,
  image: imageTask,
  lint: checkTask('lint'),
  start,
  synth,
  test: testTask,
  'test:interop': interopTask,
  tools: toolsTask,
  typecheck: checkTask('typecheck'),
};

/** Runs one task of the npm scripts. Resolves with the exit code; every error that a user can cause is one line. */
export async function main(name: string | undefined, args: readonly string[]): Promise<number> {
  const task = tasks[name ?? ''];
  if (task === undefined) {
    process.stderr.write(`✗ no such task; there are ${Object.keys(tasks).join(', ')}\n`);
    return 2;
  }
  try {
    return await task(args, createReporter());
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    process.stderr.write(`✗ ${error.describe()}\n`);
    return 1;
  }
}
