/**
 * The real Pulumi engine on one project, with a file backend in a folder of its own: nothing of the user's own Pulumi
 * login, plugins or stacks is touched.
 */
import { spawn } from 'node:child_process';
import { copyFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { currentRun } from './run/run.ts';

/** One finished call of the engine. */
export interface EngineResult {
  readonly code: number;
  /** stdout and stderr in the order in which they came. */
  readonly output: string;
  readonly stdout: string;
}

export interface EngineOptions {
  /** Folder with Pulumi.yaml. */
  readonly project: string;
  /** Default: a name of its own, so that runs side by side do not meet. */
  readonly stack?: string;
  /** Environment with the engine, its language host and Node on PATH (tools: `pulumiEnvironment`). */
  readonly env: NodeJS.ProcessEnv;
  /** Called with every piece of output as it comes. */
  readonly onOutput?: (text: string) => void;
  /** Interrupts a running call the way Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** Colours in the output, for a terminal. Default: false. */
  readonly color?: boolean;
}

/** Thrown when the engine ends with another code than 0; the message ends with what the engine said. */
export class EngineError extends Error {
  readonly result: EngineResult;
  constructor(args: readonly string[], result: EngineResult) {
    super(`pulumi ${args.join(' ')} ended with code ${result.code}\n${result.output.slice(-6000)}`);
    this.name = 'EngineError';
    this.result = result;
  }
}

/** How long an interrupted engine may take to finish what it has begun, in milliseconds. */
const interruptGraceMs = 30_000;

/** A stack of a project on the real engine. */
export class PulumiEngine {
  readonly #options: EngineOptions;
  readonly #home: string;
  readonly stack: string;

  private constructor(options: EngineOptions, home: string) {
    this.#options = options;
    this.#home = home;
    this.stack = options.stack ?? `test-${home.slice(-6)}`;
  }

  /** Makes the backend folder and the (empty) stack. */
  static async create(options: EngineOptions): Promise<PulumiEngine> {
    const engine = new PulumiEngine(options, (await currentRun()).makeDir('pulumi'));
    await engine.run(['login', `file://${engine.#home}`]);
    await engine.run(['stack', 'init', engine.stack, '--no-select']);
    // The engine writes the salt of the stack's secrets into the project; other runs use that folder, too.
    const written = join(options.project, `Pulumi.${engine.stack}.yaml`);
    await copyFile(written, engine.#configPath);
    await rm(written);
    return engine;
  }

  get #configPath(): string {
    return join(this.#home, `Pulumi.${this.stack}.yaml`);
  }

  #configFile(): string[] {
    return ['--config-file', this.#configPath];
  }

  /** The same stack for calls that an interrupt must not stop: those that clean up. */
  uninterrupted(): PulumiEngine {
    const { signal: _signal, ...options } = this.#options;
    return new PulumiEngine(options, this.#home);
  }

  /** Sets one configuration value; it goes through stdin, so a secret is never on a command line. */
  async configure(key: string, value: string, { secret = false } = {}): Promise<void> {
    const kind = secret ? '--secret' : '--plaintext';
    await this.run(['config', 'set', kind, key, '--stack', this.stack, ...this.#configFile()], {
      stdin: value,
      quiet: true,
    });
  }

  up(...flags: string[]): Promise<EngineResult> {
    return this.#operate('up', '--yes', '--skip-preview', ...flags);
  }

  preview(...flags: string[]): Promise<EngineResult> {
    return this.#operate('preview', ...flags);
  }

  refresh(...flags: string[]): Promise<EngineResult> {
    return this.#operate('refresh', '--yes', '--skip-preview', ...flags);
  }

  destroy(...flags: string[]): Promise<EngineResult> {
    return this.#operate('destroy', '--yes', '--skip-preview', ...flags);
  }

  #operate(verb: string, ...flags: string[]): Promise<EngineResult> {
    return this.run([
      verb,
      '--stack',
      this.stack,
      '--non-interactive',
      '--color',
      this.#options.color === true ? 'always' : 'never',
      ...this.#configFile(),
      ...flags,
    ]);
  }

  /** Stack outputs; secrets as `[secret]` unless asked for. */
  async outputs({ showSecrets = false } = {}): Promise<Record<string, unknown>> {
    const flags = showSecrets ? ['--show-secrets'] : [];
    const { stdout } = await this.run(['stack', 'output', '--json', '--stack', this.stack, ...flags], { quiet: true });
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** The state as the backend stores it: what a thief of the state file would read. */
  async storedState(): Promise<string> {
    const project =
      (await readFile(join(this.#options.project, 'Pulumi.yaml'), 'utf8')).match(/^name:\s*(\S+)/m)?.[1] ?? '';
    return readFile(join(this.#home, '.pulumi', 'stacks', project, `${this.stack}.json`), 'utf8');
  }

  /**
   * Runs the engine with `args`.
   * @throws EngineError when it ends with another code than 0; the signal's reason when it was interrupted.
   */
  async run(args: readonly string[], { stdin = '', quiet = false } = {}): Promise<EngineResult> {
    const { project, env, onOutput, signal } = this.#options;
    signal?.throwIfAborted();
    const child = spawn('pulumi', args, {
      cwd: project,
      env: {
        ...env,
        // Ends the engine and its plugins with this process, however that ends.
        ...(await currentRun()).environment,
        PULUMI_HOME: join(this.#home, 'home'),
        PULUMI_BACKEND_URL: `file://${this.#home}`,
        PULUMI_SKIP_UPDATE_CHECK: 'true',
        PULUMI_CONFIG_PASSPHRASE: env['PULUMI_CONFIG_PASSPHRASE'] ?? '',
      },
      stdio: 'pipe',
      // Its own process group: Ctrl-C in the terminal reaches us alone, and we decide how the engine is told.
      detached: true,
    });
    let stdout = '';
    let output = '';
    const take = (text: string): void => {
      output += text;
      if (!quiet) onOutput?.(text);
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      take(text);
    });
    child.stderr.setEncoding('utf8').on('data', take);
    child.stdin.on('error', () => undefined).end(stdin);
    let hardStop: NodeJS.Timeout | undefined;
    const interrupt = (): void => {
      child.kill('SIGINT');
      hardStop = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), interruptGraceMs);
    };
    signal?.addEventListener('abort', interrupt, { once: true });
    try {
      const code = await new Promise<number>((resolve, reject) => {
        child.once('error', reject).once('close', (status) => resolve(status ?? 1));
      });
      signal?.throwIfAborted();
      const result = { code, output, stdout };
      if (code !== 0) throw new EngineError(args, result);
      return result;
    } finally {
      clearTimeout(hardStop);
      signal?.removeEventListener('abort', interrupt);
    }
  }

  /** Removes the backend folder. Resources that the stack still holds are not touched. */
  async close(): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }
}
