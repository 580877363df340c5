import { chmod, lstat, mkdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { bundle, bundleNames } from './bundle.ts';
import { exec } from './exec.ts';
import { hashInputs } from './inputs.ts';
import { acquireLock } from './lock.mjs';
import type { Reporter } from './progress.ts';
import { replaceFiles } from './replace-files.ts';
import { npmBinFolder, repositoryRoot } from './repository.ts';
import { ToolError } from './tool-error.ts';

const distFolder = join(repositoryRoot, 'dist');
/** What is private to this checkout: locks, half-made builds, caches of the checkers. */
const privateFolder = join(repositoryRoot, '.muster');
const stampName = '.inputs';

const patterns = [
  'index.ts',
  '{api,runtime,provider,components,cli}/**/*.ts',
  'tsconfig*.json',
  'package.json',
  'package-lock.json',
  'tools/{build,bundle}.ts',
];

/** Lets examples and tests import the package by its name, as users do; npm removes the link when it installs. */
async function linkPackage(): Promise<void> {
  const link = join(repositoryRoot, 'node_modules', 'pulumi-muster');
  if ((await readlink(link).catch(() => undefined)) === '..') return;
  if (await lstat(link).catch(() => undefined)) await rm(link, { recursive: true });
  await symlink('..', link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

async function isCurrent(inputs: string): Promise<boolean> {
  const stamp = await readFile(join(distFolder, stampName), 'utf8').catch(() => '');
  const bundles = await Promise.all(
    bundleNames.map((name) => stat(join(distFolder, 'bin', name)).catch(() => undefined)),
  );
  return stamp === inputs && bundles.every((found) => found !== undefined);
}

async function compile(into: string, ignoreTypeErrors: boolean): Promise<void> {
  const tsc = join(npmBinFolder, 'tsc');
  const result = await exec(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', into], {
    cwd: repositoryRoot,
  });
  if (result.code !== 0 && !ignoreTypeErrors) {
    throw new ToolError('BUILD_FAILED', `tsc ended with code ${result.code}\n${result.stdout}${result.stderr}`, {
      what: 'dist',
    });
  }
  // The sources are ES modules, what users' classic programs load is CommonJS.
  await writeFile(join(into, 'package.json'), '{"type":"commonjs"}\n');
}

/** Options of {@link buildPackage}. */
export interface BuildOptions {
  /** Builds what can be built while sources are in the middle of a change; never taken for a finished build. */
  readonly ignoreTypeErrors?: boolean;
}

/** Makes dist/: compiled sources and the bundles of the processes. Does nothing when no input has changed. */
export async function buildPackage(reporter: Reporter, options: BuildOptions = {}): Promise<void> {
  const ignoreTypeErrors = options.ignoreTypeErrors ?? false;
  await linkPackage();
  const inputs = await hashInputs(patterns, (path) => path.endsWith('.test.ts'));
  if (await isCurrent(inputs)) return;
  const release = await acquireLock(join(privateFolder, 'build.lock'), {
    onWait: (pid) => reporter.info(`… build: waiting for process ${pid}, which builds`),
  });
  try {
    if (await isCurrent(inputs)) return;
    const step = reporter.step('build');
    const into = join(privateFolder, 'dist');
    try {
      await rm(into, { recursive: true, force: true });
      await mkdir(into, { recursive: true });
      step.update('compiling');
      await compile(into, ignoreTypeErrors);
      step.update('bundling');
      await bundle(join(into, 'bin'));
      await chmod(join(into, 'bin', 'muster.cjs'), 0o755);
      if (!ignoreTypeErrors) await writeFile(join(into, stampName), inputs);
    } catch (error) {
      step.fail();
      throw error;
    }
    await replaceFiles(into, distFolder, stampName);
    step.done();
  } finally {
    await release();
  }
}
