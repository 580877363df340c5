import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { buildPackage } from '../build.ts';
import { repositoryRoot } from '../repository.ts';
import type { Task } from './task.ts';

/** Runs one of our programs with our streams and resolves with its exit code. */
function runProgram(entry: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(repositoryRoot, entry), ...args], { stdio: 'inherit' });
    // Ctrl-C reaches the program from the terminal, and it decides when it has cleaned up.
    process.on('SIGINT', () => undefined);
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

/** A task that builds the package and then runs a program with the task's arguments. */
const afterBuild =
  (entry: string, ...first: readonly string[]): Task =>
  async (args, reporter) => {
    await buildPackage(reporter);
    return runProgram(entry, [...first, ...args]);
  };

/** `npm start` */
export const start = afterBuild('demo/main.ts');
/** `npm run bench -- NAME` */
export const bench = afterBuild('bench/main.ts');
/** `npm run synth -- --out DIR` */
export const synth = afterBuild('dist/bin/muster.cjs', 'synth');
