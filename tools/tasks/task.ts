import type { Reporter } from '../progress.ts';

/** One npm script: its arguments in, the exit code out. */
export type Task = (args: readonly string[], reporter: Reporter) => Promise<number>;
