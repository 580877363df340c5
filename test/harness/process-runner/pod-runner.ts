/** One pod: its volumes, its containers in order, its status in the API, its end. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pods } from '../../../api/kubernetes/core.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import { isNotFound } from '../../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { PodConfigError } from './config-error.ts';
import { ContainerRunner } from './container-runner.ts';
import type { Launch, RestartBackoff } from './container-runner.ts';
import { commandOf, environmentOf, relocate } from './environment.ts';
import type { ProcessImage } from './environment.ts';
import { podStatus } from './pod-status.ts';
import type { Container } from './pod-spec.ts';
import { specOf } from './pod-spec.ts';
import { Volumes } from './volumes.ts';

/** What all pods of a runner share. */
export interface PodHost {
  readonly client: KubeClient;
  /** Of the node; pods listen on it and are probed there. */
  readonly address: string;
  /** Host and port of the apiserver, for in-cluster configuration. */
  readonly apiServer: { readonly host: string; readonly port: number };
  readonly images: Readonly<Record<string, ProcessImage>>;
  readonly backoff: RestartBackoff;
}

/** Kubernetes: where a pod finds its ServiceAccount. */
const serviceAccountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Kubelet brings changed ConfigMaps, Secrets and tokens into volumes about this often. */
const refreshMs = 60_000;
/** A status that could not be written is tried again after this. */
const rewriteMs = 500;

/** Runs one pod. */
export class PodRunner {
  readonly uid: string;
  #host: PodHost;
  #pod: Pod;
  #dir: string;
  #volumes: Volumes;
  #init: ContainerRunner[];
  #containers: ContainerRunner[];
  #initialized = false;
  #outcome: 'Succeeded' | 'Failed' | undefined;
  #startTime = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  #ending = new AbortController();
  #finished: Promise<void>;
  #written = '';
  #writing: Promise<void> | undefined;
  #conditions: readonly { type: string; status: string }[] = [];

  constructor(host: PodHost, pod: Pod, dir: string) {
    this.#host = host;
    this.#pod = pod;
    this.uid = pod.metadata.uid ?? '';
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
    this.#volumes = new Volumes(host.client, pod, host.address, dir);
    const spec = specOf(pod);
    this.#init = (spec.initContainers ?? []).map((container) => this.#runner(container, true));
    this.#containers = spec.containers.map((container) => this.#runner(container, false));
    this.#finished = Promise.all([this.#run(), this.#refresh()]).then(() => undefined);
  }

  /** Where a container's output goes. */
  logFile(container: string): string {
    return join(this.#dir, `${container}.log`);
  }

  /** Ends the containers within the grace period. A second call with a shorter one hurries the first. */
  async end(graceSeconds: number): Promise<void> {
    this.#ending.abort();
    const all = [...this.#init, ...this.#containers];
    await Promise.all(all.map((runner) => runner.end(graceSeconds * 1000)));
    await this.#finished;
    await this.#writing;
    this.#volumes.remove();
  }

  async #run(): Promise<void> {
    this.#changed();
    for (const runner of this.#init) {
      const succeeded = await runner.run();
      if (succeeded === true) continue;
      if (succeeded === false) this.#outcome = 'Failed';
      this.#changed();
      return;
    }
    this.#initialized = true;
    const outcomes = await Promise.all(this.#containers.map((runner) => runner.run()));
    if (outcomes.includes(undefined)) return;
    this.#outcome = outcomes.every(Boolean) ? 'Succeeded' : 'Failed';
    this.#changed();
  }

  async #refresh(): Promise<void> {
    for (;;) {
      const due = await pause(refreshMs, true, { signal: this.#ending.signal, ref: false }).catch(() => false);
      if (!due || this.#outcome !== undefined) return;
      await this.#volumes.write().catch(() => undefined); // what was deleted meanwhile stays as it was, as with kubelet
    }
  }

  #runner(container: Container, init: boolean): ContainerRunner {
    const policy = specOf(this.#pod).restartPolicy ?? 'Always';
    return new ContainerRunner({
      container,
      restartPolicy: init && policy === 'Always' ? 'OnFailure' : policy,
      address: this.#host.address,
      dir: this.#dir,
      logFile: this.logFile(container.name),
      backoff: this.#host.backoff,
      graceMs: (specOf(this.#pod).terminationGracePeriodSeconds ?? 30) * 1000,
      prepare: () => this.#prepare(container),
      resolve: (command) =>
        commandOf(this.#image(container), { ...container, command, args: [] }, {}, this.#volumes.mounts(container)),
      changed: () => this.#changed(),
    });
  }

  #image(container: Container): ProcessImage {
    const image = this.#host.images[container.image];
    if (image !== undefined) return image;
    const message = `Container image "${container.image}" is not present with pull policy of Never`;
    throw new PodConfigError('ErrImageNeverPull', message);
  }

  async #prepare(container: Container): Promise<Launch> {
    const image = this.#image(container);
    await this.#volumes.write();
    const mounts = this.#volumes.mounts(container);
    const { client, address, apiServer } = this.#host;
    const given = await environmentOf(client, this.#pod, container, address, {
      PATH: process.env['PATH'] ?? '',
      HOME: this.#dir,
      HOSTNAME: this.#pod.metadata.name ?? '',
      KUBERNETES_SERVICE_HOST: apiServer.host,
      KUBERNETES_SERVICE_PORT: String(apiServer.port),
    });
    const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, relocate(value, mounts)]));
    const serviceAccount = mounts.get(serviceAccountPath);
    if (serviceAccount !== undefined) env['MUSTER_SERVICE_ACCOUNT_DIR'] = serviceAccount;
    const temporary = mounts.get('/tmp');
    if (temporary !== undefined) env['TMPDIR'] = temporary;
    return { command: commandOf(image, container, env, mounts), env };
  }

  #changed(): void {
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Writes the status until what is written is what is so. */
  async #write(): Promise<void> {
    await Promise.resolve(); // changes of the same moment become one request
    for (;;) {
      const status = podStatus(
        {
          init: this.#init,
          containers: this.#containers,
          initialized: this.#initialized,
          outcome: this.#outcome,
          address: this.#host.address,
          startTime: this.#startTime,
        },
        this.#pod,
        this.#conditions,
      );
      const text = JSON.stringify(status);
      if (text === this.#written) return;
      try {
        const { namespace = '', name = '' } = this.#pod.metadata;
        const options = { type: 'merge', subresource: 'status' } as const;
        const patch = { metadata: { uid: this.uid }, status };
        await this.#host.client.patch(Pods, { namespace, name }, patch, options);
        this.#written = text;
        this.#conditions = status['conditions'] as { type: string; status: string }[];
      } catch (error) {
        if (isNotFound(error) || this.#ending.signal.aborted) return; // nobody reads it any more
        await pause(rewriteMs, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      }
    }
  }
}
