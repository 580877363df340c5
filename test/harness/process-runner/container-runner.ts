/** One container as a process: started, probed, started again with growing pauses, ended. */
import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ManagedProcess } from '../managed-process.ts';
import { PodConfigError } from './config-error.ts';
import type { Container, PodSpec } from './pod-spec.ts';
import { runProbe } from './probe.ts';

/** What is needed to start the process, worked out anew for each start. */
export interface Launch {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Pauses between restarts, in milliseconds. */
export interface RestartBackoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** What a container runner is made from. */
export interface ContainerRunnerOptions {
  readonly container: Container;
  readonly restartPolicy: NonNullable<PodSpec['restartPolicy']>;
  readonly address: string;
  readonly dir: string;
  readonly logFile: string;
  readonly backoff: RestartBackoff;
  /** From SIGTERM to SIGKILL when a liveness probe fails. */
  readonly graceMs: number;
  prepare(): Promise<Launch>;
  /** Words of an exec probe. */
  resolve(command: readonly string[]): readonly string[];
  /** Called after every change of the status. */
  changed(): void;
}

interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** As in a pod's `status.containerStatuses[].state`. */
export type ContainerState =
  | { readonly waiting: { readonly reason: string; readonly message?: string } }
  | { readonly running: { readonly startedAt: string } }
  | { readonly terminated: Terminated };

/** A container that has run this long is no longer thought of as crashing (Kubernetes: container restart back-off). */
const calmMs = 600_000;
/** Something the pod refers to is missing: kubelet looks again when it syncs, this runner a little sooner. */
const retryMs = 1_000;

/** Runs one container until it ends for good or is told to end. */
export class ContainerRunner {
  readonly name: string;
  state: ContainerState = { waiting: { reason: 'ContainerCreating' } };
  lastState: ContainerState | undefined;
  restartCount = 0;
  ready = false;
  started = false;
  #options: ContainerRunnerOptions;
  #process: ManagedProcess | undefined;
  #stop = new AbortController();

  constructor(options: ContainerRunnerOptions) {
    this.#options = options;
    this.name = options.container.name;
  }

  /** Resolves when it has ended for good: true when it succeeded, undefined when it was told to end. */
  async run(): Promise<boolean | undefined> {
    const { restartPolicy } = this.#options;
    for (let crashes = 0; ;) {
      const began = Date.now();
      const code = await this.#runOnce();
      if (code === undefined || this.#stop.signal.aborted) return undefined;
      if (restartPolicy === 'Never' || (restartPolicy === 'OnFailure' && code === 0)) return code === 0;
      if (Date.now() - began > calmMs) crashes = 0;
      if (!(await this.#backOff(crashes))) return undefined;
      crashes += 1;
      this.restartCount += 1;
    }
  }

  /** Ends it: SIGTERM, and SIGKILL after `graceMs`. */
  async end(graceMs: number): Promise<void> {
    this.#stop.abort();
    await this.#process?.stop(graceMs > 0 ? { limitMs: graceMs } : { signal: 'SIGKILL' });
  }

  /** Exit code of one run; undefined when it was told to end before it started. */
  async #runOnce(): Promise<number | undefined> {
    const launch = await this.#prepare();
    if (launch === undefined) return undefined;
    const [command = '', ...args] = launch.command;
    const { dir, logFile } = this.#options;
    const process = await ManagedProcess.start({
      name: this.name,
      command,
      args,
      env: launch.env,
      bareEnvironment: true,
      cwd: dir,
      logFile,
    });
    this.#process = process;
    if (this.#stop.signal.aborted) process.signal('SIGKILL');
    const startedAt = new Date().toISOString();
    this.#set({ running: { startedAt } });
    const probing = new AbortController();
    const probes = this.#probe(process, launch, probing.signal);
    const status = await process.exited;
    probing.abort();
    await probes;
    const exitCode = status.code ?? 128 + (status.signal === null ? 0 : constants.signals[status.signal]);
    this.ready = false;
    this.started = false;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    this.#set({ terminated: { exitCode, reason, startedAt, finishedAt: new Date().toISOString() } });
    return exitCode;
  }

  async #prepare(): Promise<Launch | undefined> {
    while (!this.#stop.signal.aborted) {
      try {
        return await this.#options.prepare();
      } catch (error) {
        // Also when the API cannot be reached: a pod waits for that, as on a real node.
        const reason = error instanceof PodConfigError ? error.reason : 'CreateContainerConfigError';
        this.#set({ waiting: { reason, message: error instanceof Error ? error.message : String(error) } });
      }
      if (!(await this.#wait(retryMs))) return undefined;
    }
    return undefined;
  }

  /** The first restart comes at once; false when it was told to end meanwhile. */
  async #backOff(crashes: number): Promise<boolean> {
    this.lastState = this.state;
    if (crashes === 0) return !this.#stop.signal.aborted;
    const { firstMs, maxMs } = this.#options.backoff;
    const wait = Math.min(firstMs * 2 ** (crashes - 1), maxMs);
    const message = `back-off ${wait / 1000}s restarting failed container=${this.name}`;
    this.#set({ waiting: { reason: 'CrashLoopBackOff', message } });
    return await this.#wait(wait);
  }

  async #wait(ms: number): Promise<boolean> {
    return await pause(ms, true, { signal: this.#stop.signal }).catch(() => false);
  }

  /** Startup first; liveness and readiness after it, as in Kubernetes. */
  async #probe(process: ManagedProcess, launch: Launch, signal: AbortSignal): Promise<void> {
    const { container, address, resolve } = this.#options;
    const target = { container, address, env: launch.env, resolve };
    const kill = (): void => void process.stop({ limitMs: this.#options.graceMs });
    if (container.startupProbe !== undefined) {
      const passed = new AbortController();
      const report = (healthy: boolean): void => (healthy ? passed.abort() : kill());
      await runProbe(container.startupProbe, target, report, AbortSignal.any([signal, passed.signal]));
      if (signal.aborted) return;
    }
    this.started = true;
    const probes: Promise<void>[] = [];
    if (container.livenessProbe !== undefined) {
      probes.push(runProbe(container.livenessProbe, target, (healthy) => healthy || kill(), signal));
    }
    const setReady = (ready: boolean): void => {
      this.ready = ready;
      this.#options.changed();
    };
    if (container.readinessProbe === undefined) setReady(true);
    else probes.push(runProbe(container.readinessProbe, target, setReady, signal));
    await Promise.all(probes);
  }

  #set(state: ContainerState): void {
    this.state = state;
    this.#options.changed();
  }
}
