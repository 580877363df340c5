/**
 * A stand-in for a node where none can run: no root, no Linux needed. It registers a Node, takes pods that have no node,
 * starts what their containers ask for as processes of this machine, and reports as kubelet does. No isolation: the
 * processes see the machine's files (mount paths in arguments and environment are replaced by folders) and its network;
 * users, capabilities and limits of the manifest are ignored.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { keyOf } from '../../../api/resource.ts';
import { Pods } from '../../../api/kubernetes/core.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import { isConflict, isNotFound } from '../../../runtime/kube/api-error.ts';
import { createCache } from '../../../runtime/kube/cache.ts';
import type { CacheEvent } from '../../../runtime/kube/cache.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { claimAddress } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';
import { currentRun } from '../run/run.ts';
import type { RestartBackoff } from './container-runner.ts';
import type { ProcessImage } from './environment.ts';
import { PodRunner } from './pod-runner.ts';
import type { PodHost } from './pod-runner.ts';
import { specOf } from './pod-spec.ts';
import { keepAlive, registerNode } from './virtual-node.ts';

/** Options of {@link ProcessRunner.start}. */
export interface ProcessRunnerOptions {
  /** What stands for each image, by the name that pods use: `{ 'localhost/muster:dev': { command: … } }`. */
  readonly images: Readonly<Record<string, ProcessImage>>;
  /** Pauses between restarts of a crashing container. Default: kubelet's, 10 s doubling to 300 s. */
  readonly backoff?: RestartBackoff;
}

/** Pause before something is tried again that the API did not take. */
const retryMs = 500;

/** Runs pods as processes. */
export class ProcessRunner {
  /** Of its Node object. */
  readonly name: string;
  /** Folder of volumes and logs. */
  readonly dir: string;
  /** Pods listen here: a loopback address that is nobody else's (Linux), or 127.0.0.1. */
  readonly address: string;
  #client: KubeClient;
  #host: PodHost;
  #plane: ControlPlane;
  #claim: Claim<string> | undefined;
  #pods = new Map<string, PodRunner>();
  #background = new Set<Promise<void>>();
  #underWay = new Set<string>();
  #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  /** Starts one on `plane`; resolves when its node is Ready and pods are taken. */
  static async start(plane: ControlPlane, options: ProcessRunnerOptions): Promise<ProcessRunner> {
    const run = await currentRun();
    const claim = process.platform === 'linux' ? await claimAddress([]) : undefined;
    const runner = new ProcessRunner(plane, options, claim, run.makeDir('process-runner'));
    try {
      await registerNode(runner.#client, runner.name, runner.address);
      await runner.#watch();
      return runner;
    } catch (error) {
      await runner.close();
      throw error;
    }
  }

  private constructor(
    plane: ControlPlane,
    options: ProcessRunnerOptions,
    claim: Claim<string> | undefined,
    dir: string,
  ) {
    this.name = `process-runner-${randomBytes(3).toString('hex')}`;
    this.dir = dir;
    this.address = claim?.value ?? '127.0.0.1';
    this.#plane = plane;
    this.#claim = claim;
    this.#client = plane.client({ userAgent: 'muster-process-runner' });
    this.#host = {
      client: this.#client,
      address: this.address,
      apiServer: { host: '127.0.0.1', port: plane.port },
      images: options.images,
      backoff: options.backoff ?? { firstMs: 10_000, maxMs: 300_000 },
    };
  }

  /** The file that gets a container's output; undefined when the pod does not run here. */
  logFile(namespace: string, pod: string, container: string): string | undefined {
    return [...this.#pods.entries()].find(([key]) => key.startsWith(`${namespace}/${pod}/`))?.[1].logFile(container);
  }

  /** Kills every process at once and goes away. Its Node and Pods stay in the API. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const pods = [...this.#pods.values()];
    this.#pods.clear();
    await Promise.all([...pods.map((pod) => pod.end(0)), ...this.#background]);
    await this.#client.close();
    this.#claim?.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #watch(): Promise<void> {
    const cache = createCache(this.#client, Pods);
    cache.subscribe((event) => this.#take(event));
    const { signal } = this.#stop;
    this.#running = Promise.all([cache.start(signal), keepAlive(this.#client, this.name, signal)]);
    await cache.whenSynced(signal);
  }

  #take({ type, object: pod }: CacheEvent<Pod>): void {
    const key = `${keyOf(pod)}/${pod.metadata.uid ?? ''}`;
    const { nodeName } = specOf(pod);
    if (type === 'deleted') return this.#end(key, 0);
    const isLeaving = pod.metadata.deletionTimestamp !== undefined;
    if (nodeName === undefined || nodeName === '') {
      // Does the scheduler's work where there is none.
      if (!isLeaving && !this.#plane.isRunning('kube-scheduler')) this.#once(`bind ${key}`, () => this.#bind(pod));
      return;
    }
    if (nodeName !== this.name) return;
    if (isLeaving) {
      this.#once(`remove ${key}`, () => this.#remove(key, pod));
      return;
    }
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (this.#pods.has(key) || isOver) return;
    const dir = join(this.dir, `${pod.metadata.namespace}_${pod.metadata.name}_${pod.metadata.uid}`);
    this.#pods.set(key, new PodRunner(this.#host, pod, dir));
  }

  async #bind(pod: Pod): Promise<void> {
    const { namespace = '', name = '', uid } = pod.metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: this.name },
    };
    await this.#client.raw(`/api/v1/namespaces/${namespace}/pods/${name}/binding`, { method: 'POST', body });
  }

  /** Ends a pod that is being deleted, then tells the API, which waits for that to let the object go. */
  async #remove(key: string, pod: Pod): Promise<void> {
    await this.#pods.get(key)?.end(pod.metadata.deletionGracePeriodSeconds ?? 30);
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    await this.#client.delete(Pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
    this.#pods.delete(key);
  }

  /** The object is gone: what is left of the pod is killed. */
  #end(key: string, graceSeconds: number): void {
    const runner = this.#pods.get(key);
    this.#pods.delete(key);
    if (runner !== undefined) this.#track(runner.end(graceSeconds));
  }

  /**
   * Does something that must be done, in the background, once at a time. Gives up when it was overtaken (the object is
   * gone or has changed, and comes back as an event), tries again when the API is away.
   */
  #once(what: string, work: () => Promise<void>): void {
    if (this.#underWay.has(what)) return;
    this.#underWay.add(what);
    const { signal } = this.#stop;
    const attempt = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          return await work();
        } catch (error) {
          if (isNotFound(error) || isConflict(error)) return;
          await pause(retryMs, undefined, { signal }).catch(() => undefined);
        }
      }
    };
    this.#track(attempt().finally(() => this.#underWay.delete(what)));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#background.delete(tracked));
    this.#background.add(tracked);
  }
}
