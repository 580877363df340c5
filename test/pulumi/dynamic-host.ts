/**
 * Pulumi's own host of dynamic resources, driven over gRPC as the engine drives it: the same process, the same text out
 * of the state, the same wire. Starts in half a second, where a run of the engine takes several.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Props, ResourceKind } from '../../provider/handler.ts';
import { storedText } from '../../provider/resources/stored-text.ts';
import { call, connect, failureOf } from './provider-wire.ts';
import type { InitFailure, ProviderClient } from './provider-wire.ts';

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A resource as the state holds it. */
export interface StoredResource {
  readonly id: string;
  readonly inputs: Props;
  readonly outputs: Props;
  /** Set when its last operation was a partial failure. */
  readonly initErrors?: readonly string[];
}

export interface CheckAnswer {
  readonly inputs: Props;
  readonly failures: readonly { property: string; reason: string }[];
}

export interface DiffAnswer {
  readonly changes: 'some' | 'none' | 'unknown';
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

/** Thrown for a check that fails. */
export class CheckFailed extends Error {
  readonly failures: CheckAnswer['failures'];
  constructor(failures: CheckAnswer['failures']) {
    super(failures.map(({ property, reason }) => `${property}: ${reason}`).join('; '));
    this.failures = failures;
  }
}

/** Options of {@link DynamicHost.start}. */
export interface DynamicHostOptions {
  /** Stack configuration by full key. */
  readonly config?: Readonly<Record<string, string>>;
  /** Directory that the package is loaded from. Default: the repository. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: {@link storedText}. */
  readonly text?: string;
}

/** One host process. */
export class DynamicHost {
  /** Everything the process has written: what the engine would show to the user. */
  output = '';
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #client: ProviderClient;
  readonly #text: string;

  private constructor(process: ChildProcessByStdio<null, Readable, Readable>, client: ProviderClient, text: string) {
    this.#process = process;
    this.#client = client;
    this.#text = text;
  }

  static async start(options: DynamicHostOptions = {}): Promise<DynamicHost> {
    const script = createRequire(import.meta.url).resolve('@pulumi/pulumi/cmd/dynamic-provider');
    const child = spawn(process.execPath, [script, '127.0.0.1:1'], {
      cwd: options.cwd ?? repositoryRoot,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.setEncoding('utf8');
    child.stderr.setEncoding('utf8');
    const port = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (text: string) => resolve(text.trim()));
      child.once('exit', (code) => reject(new Error(`the dynamic host ended with code ${code ?? 'none'}`)));
    });
    const host = new DynamicHost(child, connect(`127.0.0.1:${port}`), options.text ?? storedText);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: string) => (host.output += text));
    await call(host.#client, 'configure', { args: options.config ?? {} });
    return host;
  }

  async check(news: Props, olds: Props = {}): Promise<CheckAnswer> {
    const answer = await call(this.#client, 'check', { olds: this.#with(olds), news: this.#with(news) });
    return { inputs: without(answer['inputs'] as Props), failures: answer['failures'] as CheckAnswer['failures'] };
  }

  async diff(stored: StoredResource, news: Props): Promise<DiffAnswer> {
    return (await call(this.#client, 'diff', {
      id: stored.id,
      olds: this.#with(stored.outputs),
      news: this.#with(news),
    })) as unknown as DiffAnswer;
  }

  /** As the engine makes a resource: checked first, kept when it failed half-way. */
  async create(news: Props): Promise<StoredResource> {
    const inputs = await this.checked(news);
    return this.#keep(inputs, undefined, () => call(this.#client, 'create', { properties: this.#with(inputs) }));
  }

  async update(stored: StoredResource, news: Props): Promise<StoredResource> {
    const inputs = await this.checked(news, stored.inputs);
    const request = { id: stored.id, olds: this.#with(stored.outputs), news: this.#with(inputs) };
    return this.#keep(inputs, stored.id, () => call(this.#client, 'update', request));
  }

  /** Undefined when the resource is reported as gone. */
  async read(stored: StoredResource): Promise<StoredResource | undefined> {
    const request = { id: stored.id, properties: this.#with(stored.outputs), inputs: this.#with(stored.inputs) };
    const answer = await call(this.#client, 'read', request);
    if (answer['id'] === '') return undefined;
    const { id, properties, inputs } = answer as { id: string; properties: Props; inputs: Props };
    return { id, outputs: without(properties), inputs: without(inputs) };
  }

  async delete(stored: Pick<StoredResource, 'id' | 'outputs'>): Promise<void> {
    await call(this.#client, 'delete', { id: stored.id, properties: this.#with(stored.outputs) });
  }

  /** @throws CheckFailed */
  async checked(news: Props, olds: Props = {}): Promise<Props> {
    const { inputs, failures } = await this.check(news, olds);
    if (failures.length > 0) throw new CheckFailed(failures);
    return inputs;
  }

  async close(): Promise<void> {
    // First the process, so that calls that are still open end with it.
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    this.#client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #with(props: Props): Props {
    return { ...props, __provider: this.#text };
  }

  async #keep(inputs: Props, id: string | undefined, run: () => Promise<Props>): Promise<StoredResource> {
    try {
      const answer = await run();
      return { id: id ?? String(answer['id']), inputs, outputs: without(answer['properties'] as Props) };
    } catch (error) {
      const failure: InitFailure | undefined = failureOf(error);
      if (failure === undefined) throw error;
      return { id: failure.id, inputs, outputs: without(failure.properties), initErrors: failure.reasons };
    }
  }
}

/** Inputs as the resource class of `kind` sends them. */
export function inputsOf(kind: ResourceKind, args: Props, resourceName = 'east'): Props {
  return { ...args, kind, resourceName, owner: 'demo/test' };
}

function without(props: Props): Props {
  const { __provider: _, ...rest } = props;
  return rest;
}
