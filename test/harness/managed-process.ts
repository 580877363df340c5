/**
 * A program that ends with the test run at the latest. It gets its own process group, its output goes to a file, and it
 * is on record before its first instruction.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { MusterError } from '../../api/errors.ts';
import { limits } from './limits.ts';
import { currentRun } from './run/run.ts';

/** What to start. No secret belongs in `args`: every user of the machine can read them. */
export interface ProcessOptions {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Gets stdout and stderr, appended. */
  readonly logFile: string;
  /** Added to (or, with `bareEnvironment`, instead of) this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly bareEnvironment?: boolean;
  readonly cwd?: string;
}

/** How a process ended: one of the two is set. */
export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * The shell notes its own number and start time, looks whether the registry is still open, and becomes the program.
 * A run that is being cleaned up has closed (renamed) the registry first, so the program never starts unseen.
 */
export const launcher = [
  `record=$1; shift`,
  `{ printf '%s ' $$; /bin/cat /proc/$$/stat 2>/dev/null || /bin/ps -o lstart= -p $$; } >"$record" || exit 125`,
  `[ -e "$record" ] || exit 125`,
  `exec "$@"`,
].join('\n');

/** A started program. */
export class ManagedProcess {
  readonly name: string;
  readonly logFile: string;
  /** Resolves when it has ended; never rejects. */
  readonly exited: Promise<ExitStatus>;
  #child: ChildProcess;
  #status: ExitStatus | undefined;

  /** Starts the program; resolves as soon as the operating system has it. */
  static async start(options: ProcessOptions): Promise<ManagedProcess> {
    const run = await currentRun();
    const record = run.processRecord();
    const log = openSync(options.logFile, 'a', 0o600);
    const base = options.bareEnvironment === true ? {} : process.env;
    const child = spawn('/bin/sh', ['-c', launcher, 'muster-launch', record, options.command, ...options.args], {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...base, ...options.env, ...run.environment },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    closeSync(log);
    return new ManagedProcess(options, child, () => rmSync(record, { force: true }));
  }

  private constructor(options: ProcessOptions, child: ChildProcess, forget: () => void) {
    this.name = options.name;
    this.logFile = options.logFile;
    this.#child = child;
    this.exited = new Promise((resolve) => {
      const ended = (code: number | null, signal: NodeJS.Signals | null): void => {
        this.#status = { code, signal };
        this.signal('SIGKILL', true); // what it left behind in its group
        forget();
        resolve(this.#status);
      };
      child.once('exit', ended);
      child.once('error', () => ended(127, null));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** How it ended; undefined while it runs. */
  get status(): ExitStatus | undefined {
    return this.#status;
  }

  get running(): boolean {
    return this.#status === undefined;
  }

  /** Sends a signal to its process group. */
  signal(signal: NodeJS.Signals, evenIfEnded = false): void {
    if (this.pid === 0 || (!this.running && !evenIfEnded)) return;
    try {
      process.kill(-this.pid, signal);
    } catch {
      // the group is empty
    }
  }

  /** Asks it to end, and makes it after `limitMs`. */
  async stop(options: { signal?: NodeJS.Signals; limitMs?: number } = {}): Promise<ExitStatus> {
    this.signal(options.signal ?? 'SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), options.limitMs ?? limits.stop);
    const status = await this.exited;
    clearTimeout(timer);
    return status;
  }

  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<ExitStatus> {
    this.signal('SIGKILL');
    return this.exited;
  }

  /** The last lines of its output. */
  logTail(lines = 15): string {
    return tailOf(this.logFile, lines);
  }

  /** Rejects with the end of its log once it has ended: race it against a wait for readiness. */
  async failure(): Promise<never> {
    const { code, signal } = await this.exited;
    throw new MusterError('INTERNAL', `${this.name} ended (${signal ?? `exit code ${code}`}):\n${this.logTail()}`, {
      hint: `Its whole log is ${this.logFile}.`,
    });
  }
}

/** The last lines of a log file; empty when there is none. */
export function tailOf(file: string, lines: number): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch {
    return '';
  }
}
