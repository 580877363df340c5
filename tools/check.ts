import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { exec } from './exec.ts';
import type { Reporter } from './progress.ts';
import { npmBinFolder, repositoryRoot } from './repository.ts';

/** What can be checked without running the package. */
export type CheckName = 'typecheck' | 'lint' | 'format' | 'package';

/** The programs of each check, run one after the other. */
const checks: Readonly<Record<CheckName, readonly (readonly string[])[]>> = {
  typecheck: [['tsc', '-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', '.muster/typecheck.tsbuildinfo']],
  lint: [['eslint', '.', '--max-warnings', '0']],
  format: [
    ['prettier', '--check', '.', '--cache', '--cache-strategy', 'content', '--cache-location', '.muster/prettier'],
  ],
  package: [
    ['publint', '--strict'],
    ['attw', '--pack', '.', '--no-emoji'],
  ],
};

/** All checks; they do not disturb each other. */
export const checkNames = Object.keys(checks) as readonly CheckName[];

/** How one check ended. */
export interface CheckResult {
  readonly name: CheckName;
  readonly passed: boolean;
  /** What the programs said; shown only when it failed. */
  readonly output: string;
}

/** Runs one check. `dist/` must be built, as examples import the package by its name. */
export async function runCheck(name: CheckName, reporter: Reporter): Promise<CheckResult> {
  await mkdir(join(repositoryRoot, '.muster'), { recursive: true });
  const step = reporter.step(name);
  let output = '';
  let passed = true;
  for (const [program = '', ...args] of checks[name]) {
    const result = await exec(process.execPath, [join(npmBinFolder, program), ...args], {
      cwd: repositoryRoot,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    output += result.stdout + result.stderr;
    passed &&= result.code === 0;
  }
  if (passed) step.done();
  else {
    step.fail();
    reporter.info(output.trimEnd());
  }
  return { name, passed, output };
}
