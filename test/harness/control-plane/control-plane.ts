/**
 * A real Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager and, when asked for,
 * kube-scheduler. As many side by side as memory allows (about 0.45 GB each); ready in about 4 s; gone with the test run.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '../../../api/errors.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { createClient } from '../../../runtime/kube/create-client.ts';
import type { ClientOptions } from '../../../runtime/kube/create-client.ts';
import { binary } from '../binaries.ts';
import { httpGet } from '../http-get.ts';
import { limits } from '../limits.ts';
import { ManagedProcess } from '../managed-process.ts';
import type { IsolatedNetwork } from '../network/isolated-network.ts';
import type { KeyPair } from '../pki/authority.ts';
import { claimPort } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';
import { currentRun } from '../run/run.ts';
import { waitReady } from '../wait-ready.ts';
import { advertised, argumentsOf } from './arguments.ts';
import type { Component, PlanePorts } from './arguments.ts';
import { kubeconfigText, planeFiles, replaceServingPair } from './files.ts';
import type { KubeconfigUser, PlaneFiles } from './files.ts';
import type { ControlPlaneOptions } from './options.ts';

/** A running control plane. */
export class ControlPlane {
  readonly name: string;
  /** Its folder: keys, data, `COMPONENT.log`. */
  readonly dir: string;
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  readonly port: number;
  /** The CA that signs serving and client certificates, PEM, and after it the successor, if there is one. */
  readonly ca: string;
  /** The bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  /** The admin's kubeconfig, as text. */
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  /** The network it is on, unless that is the machine's. */
  readonly network: IsolatedNetwork | undefined;
  #files: PlaneFiles;
  #ports: PlanePorts;
  #claims: readonly Claim<number>[];
  #options: ControlPlaneOptions;
  #processes = new Map<Component, ManagedProcess>();
  #starting = new Map<Component, Promise<void>>();

  /**
   * Starts one and waits until every component is ready.
   *
   * @throws MusterError INTERNAL with the last lines of the log of the component that ended; TIMEOUT; NOT_FOUND when a
   * program is missing.
   */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const run = await currentRun();
    const dir = options.dir ?? run.makeDir(options.name ?? 'plane');
    const others = await Promise.all(Array.from({ length: 4 }, () => claimPort()));
    const claims = [options.port ?? (await claimPort()), ...others];
    const plane = new ControlPlane(planeFiles(dir, options.hosts), claims, options);
    try {
      for (const { value } of claims) await options.network?.forward({ host: '127.0.0.1', port: value }, value);
      await plane.#startAll();
      return plane;
    } catch (error) {
      await plane.close();
      throw error;
    }
  }

  private constructor(files: PlaneFiles, claims: readonly Claim<number>[], options: ControlPlaneOptions) {
    const port = (index: number): number => claims[index]?.value ?? 0;
    this.#files = files;
    this.#claims = claims;
    this.#options = options;
    this.#ports = {
      'kube-apiserver': port(0),
      etcd: port(1),
      'etcd-peer': port(2),
      'kube-controller-manager': port(3),
      'kube-scheduler': port(4),
    };
    this.name = options.name ?? 'plane';
    this.network = options.network;
    this.dir = files.dir;
    this.port = port(0);
    this.server = `https://127.0.0.1:${this.port}`;
    this.ca = files.authority.cert + (options.successor?.cert ?? '');
    this.adminToken = files.adminToken;
    this.kubeconfig = this.kubeconfigFor({ token: files.adminToken });
    this.kubeconfigPath = files.path('kubeconfig');
    writeFileSync(this.kubeconfigPath, this.kubeconfig, { mode: 0o600 });
  }

  /** A kubeconfig for this server with another user (and server: a proxy's). */
  kubeconfigFor(user: KubeconfigUser, options: { server?: string; ca?: string; namespace?: string } = {}): string {
    return kubeconfigText(options.server ?? this.server, options.ca ?? this.ca, user, options.namespace);
  }

  /** A client certificate of this plane's CA. `organizations` are groups. */
  issueClientCertificate(commonName: string, organizations: readonly string[] = []): KeyPair {
    return this.#files.authority.issue({ commonName, organizations, usages: ['client'] });
  }

  /** A serving certificate of this plane's CA. */
  issueServerCertificate(commonName: string, hosts: readonly string[]): KeyPair {
    return this.#files.authority.issue({ commonName, hosts, usages: ['server'] });
  }

  /** A new client with the admin's rights; the caller closes it. */
  client(options?: ClientOptions): KubeClient {
    return this.clientFor(this.adminToken, options);
  }

  /** A new client that signs in with a bearer token. */
  clientFor(token: string, options?: ClientOptions): KubeClient {
    return createClient({ server: this.server, ca: this.ca, token, contextName: this.name }, options);
  }

  /** True while the component's process runs. */
  isRunning(component: Component): boolean {
    return this.#processes.get(component)?.running === true;
  }

  /** The process, for tests that signal it (SIGSTOP, SIGKILL). Undefined before its first start. */
  processOf(component: Component): ManagedProcess | undefined {
    return this.#processes.get(component);
  }

  logFile(component: Component): string {
    return join(this.dir, `${component}.log`);
  }

  /**
   * Ends one component and leaves the others alone; nothing happens when it is not running. An etcd with a live
   * apiserver takes 7 s (it waits for its clients to go); with SIGKILL it is gone at once and so are its last writes,
   * since it does not sync.
   */
  async stop(component: Component, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#processes.get(component)?.stop({ signal });
  }

  /** Starts a component that was left out, and waits until it is ready. Two calls at once start one. */
  async ensure(component: Component): Promise<void> {
    const known = this.#starting.get(component);
    const starting = known ?? (this.isRunning(component) ? Promise.resolve() : this.#start(component));
    this.#starting.set(component, starting);
    await starting.finally(() => this.#starting.delete(component));
  }

  /** Ends one component if it runs, starts it on the same port and data, and waits until it is ready. */
  async restart(component: Component): Promise<void> {
    await this.stop(component);
    await this.#start(component);
  }

  /** Goes over to a serving certificate of the successor: who trusts only the CA of before is shut out from now on. */
  async changeAuthority(): Promise<void> {
    const { successor, hosts } = this.#options;
    if (successor === undefined)
      throw new MusterError('INVALID_ARGUMENT', `${this.name} was started without successor`);
    replaceServingPair(this.#files, successor, hosts);
    await this.restart('kube-apiserver');
  }

  /**
   * Waits until kube-controller-manager has done its first work in the namespace `default`: the ServiceAccount and the
   * ConfigMap with the root CA, without which no Pod can be made.
   */
  async whenWorking(): Promise<void> {
    const paths = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'];
    await this.#wait('kube-controller-manager', async () => {
      const seen = await Promise.all(paths.map((path) => this.#get(`/api/v1/namespaces/default/${path}`)));
      return seen.every(succeeded) ? true : undefined;
    });
  }

  /** Ends everything, the apiserver before its etcd (one that loses its etcd does not end), and frees the ports. */
  async close(): Promise<void> {
    const signal = this.#options.dir === undefined ? 'SIGKILL' : 'SIGTERM'; // nobody will ask a folder that vanishes
    const first: Component[] = ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver'];
    await Promise.all(first.map((component) => this.stop(component, signal)));
    await this.stop('etcd', signal);
    for (const claim of this.#claims) claim.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #startAll(): Promise<void> {
    await this.#start('etcd');
    await this.#start('kube-apiserver');
    const rest: Component[] = [];
    if (this.#options.controllerManager !== false) rest.push('kube-controller-manager');
    if (this.#options.scheduler === true) rest.push('kube-scheduler');
    await Promise.all(rest.map((component) => this.#start(component)));
  }

  async #start(component: Component): Promise<void> {
    const extra: Partial<Record<Component, readonly string[]>> = {
      'kube-apiserver': [...(this.network ? advertised : []), ...(this.#options.apiServerArgs ?? [])],
      'kube-controller-manager': this.#options.controllerManagerArgs ?? [],
    };
    mkdirSync(this.dir, { recursive: true });
    const program = [await binary(component), ...argumentsOf(component, this.#files, this.#ports)];
    const [command = '', ...args] = [...(this.network?.inside.enter ?? []), ...program, ...(extra[component] ?? [])];
    const started = await ManagedProcess.start({
      name: component,
      command,
      args,
      logFile: this.logFile(component),
      cwd: this.dir,
    });
    this.#processes.set(component, started);
    await this.#wait(component, () => this.#isReady(component));
  }

  async #wait(component: Component, look: () => Promise<true | undefined>): Promise<void> {
    const program = this.#processes.get(component);
    if (program === undefined) {
      throw new MusterError('INVALID_ARGUMENT', `${this.name} was started without ${component}`);
    }
    await waitReady(program, look, { what: `${component} of ${this.name}`, limitMs: limits.start });
  }

  async #isReady(component: Component): Promise<true | undefined> {
    switch (component) {
      case 'etcd':
        return succeeded(await httpGet({ server: `http://127.0.0.1:${this.#ports.etcd}` }, '/health'));
      case 'kube-apiserver':
        // The namespace is made by the apiserver itself, a moment after it calls itself ready.
        return succeeded(await this.#get('/readyz')) && succeeded(await this.#get('/api/v1/namespaces/default'));
      case 'kube-controller-manager':
      case 'kube-scheduler': {
        const server = `https://127.0.0.1:${this.#ports[component]}`;
        return succeeded(await httpGet({ server, ca: this.ca }, '/healthz'));
      }
    }
  }

  #get(path: string): ReturnType<typeof httpGet> {
    return httpGet({ server: this.server, ca: this.ca, token: this.adminToken }, path);
  }
}

function succeeded(answer: { status: number } | undefined): true | undefined {
  return answer?.status === 200 ? true : undefined;
}
