import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { buildPackage } from '../build.ts';
import { checkNames, runCheck } from '../check.ts';
import { ensureTools } from '../ensure-tools.ts';
import { buildBusyboxImage, buildImage, buildPauseImage } from '../image/index.ts';
import { toolNames, usualTools } from '../programs.ts';
import type { Reporter } from '../progress.ts';
import { npmBinFolder, repositoryRoot } from '../repository.ts';
import { ToolError } from '../tool-error.ts';
import type { Task } from './task.ts';

/** How many tests ended how; checks count as one test each. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { status: string }[];
  }[];
}

/** `12 passed, 0 failed`, and `, 3 skipped` when there are any. */
export function formatTally(tally: Tally): string {
  return `${tally.passed} passed, ${tally.failed} failed${tally.skipped === 0 ? '' : `, ${tally.skipped} skipped`}`;
}

/** Sums Vitest's report. A file that could not be loaded is a failure, and so is an exit code that no test explains. */
export function tallyOf(report: Report | undefined, exitCode: number): Tally {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 };
  const unloaded = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + unloaded;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * For all that tests start, most of it for seconds: programs in Go collect garbage less often, Node.js keeps what it has
 * compiled. Together a tenth of the time of all tests, for a third more memory of each API server.
 */
const forShortLives = (): Readonly<Record<string, string>> => ({
  GOGC: '400',
  NODE_COMPILE_CACHE: join(repositoryRoot, '.muster', 'compile-cache'),
});

/** Vitest with its own progress on our streams; its report tells what to add up. */
export async function runVitest(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Tally> {
  const folder = join(repositoryRoot, '.muster');
  const reportPath = join(folder, `vitest-${process.pid}.json`);
  await mkdir(folder, { recursive: true });
  const options = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`];
  const exitCode = await new Promise<number>((resolve, reject) => {
    const vitest = join(npmBinFolder, 'vitest');
    const child = spawn(process.execPath, [vitest, ...options, ...args], {
      cwd: repositoryRoot,
      env: { ...forShortLives(), ...process.env, ...environment },
      stdio: 'inherit',
    });
    process.on('SIGINT', () => undefined);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
  const text = await readFile(reportPath, 'utf8').catch(() => undefined);
  await rm(reportPath, { force: true });
  return tallyOf(text === undefined ? undefined : (JSON.parse(text) as Report), exitCode);
}

async function setUp(reporter: Reporter): Promise<void> {
  await buildPackage(reporter);
  await ensureTools(usualTools, reporter);
  await buildImage({ reporter });
  await buildPauseImage({ reporter });
  await buildBusyboxImage({ reporter });
}

/** What only few tests need. Without the memory to make it, they are skipped and say so; the others run. */
async function setUpAll(reporter: Reporter): Promise<void> {
  try {
    await ensureTools(toolNames, reporter);
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'NOT_ENOUGH_MEMORY') throw error;
    reporter.info(error.describe());
  }
}

async function runAll(args: readonly string[], reporter: Reporter): Promise<Tally> {
  try {
    await setUp(reporter);
    // One part may need none of the costly ones; its tests ask for what they need themselves.
    if (args.length === 0) await setUpAll(reporter);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    reporter.info(`✗ ${error.describe()}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  // With a filter somebody works on one part: then only its tests run.
  const names = args.length === 0 ? checkNames : [];
  const checks = await Promise.all(names.map((name) => runCheck(name, reporter)));
  const tests = await runVitest(args);
  const passed = checks.filter((check) => check.passed).length;
  return { passed: tests.passed + passed, failed: tests.failed + checks.length - passed, skipped: tests.skipped };
}

/** `npm test [-- FILTER…]`: everything that is tested; the closing line counts it. */
export const testTask: Task = async (args, reporter) => {
  const tally = await runAll(args, reporter);
  process.stdout.write(`\n${formatTally(tally)}\n`);
  return tally.failed === 0 && tally.passed > 0 ? 0 : 1;
};
