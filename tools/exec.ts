import { spawn, type ChildProcess } from 'node:child_process';
import process from 'node:process';

/** Options of {@link exec}. */
export interface ExecOptions {
  readonly cwd?: string;
  /** The whole environment. Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Called with each line of standard error. */
  readonly onErrorLine?: (line: string) => void;
  /** Ends the program after this time, in ms. Default: none (a build takes what it takes). */
  readonly timeoutMs?: number;
}

/** How a program ended; `code` is null when it could not be started (`missing`) or was ended by a signal. */
export interface ExecResult {
  readonly code: number | null;
  readonly stdout: string;
  /** The last 8 KB of standard error: enough for a compiler's message. */
  readonly stderr: string;
  readonly missing: boolean;
}

const keptBytes = 8_192;
const children = new Set<ChildProcess>();
let exitHook = false;

/** A program that we started must not outlive us, however we end (a signal of the terminal reaches it by itself). */
function tieToThisProcess(child: ChildProcess): void {
  children.add(child);
  child.once('close', () => children.delete(child));
  if (exitHook) return;
  exitHook = true;
  process.on('exit', () => {
    for (const left of children) left.kill('SIGKILL');
  });
}

/** Runs a program to its end without a shell. Never rejects: look at the result. */
export function exec(command: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
    });
    tieToThisProcess(child);
    let stdout = '';
    let stderr = '';
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(-keptBytes);
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) options.onErrorLine?.(line);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve({ code: null, stdout, stderr: error.message, missing: error.code === 'ENOENT' });
    });
    child.once('close', (code) => resolve({ code, stdout, stderr, missing: false }));
  });
}
