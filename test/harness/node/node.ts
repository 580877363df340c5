/**
 * A real Kubernetes node: kubelet, containerd and runc in mount, pid and cgroup namespaces of their own. On the machine's
 * network it has a loopback address that is nobody else's; pods must use the host's network, and may listen on the
 * node's address without colliding with pods of other nodes. On a network of its own (that of its plane), pods have
 * addresses and Services work. Ready about 5 s after its start; ends, pods included, with one process.
 */
import { copyFileSync, existsSync, mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../../api/errors.ts';
import { buildPauseImage, pauseImageRef } from '../../../tools/image/index.ts';
import { binary, onPath } from '../binaries.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { httpGet } from '../http-get.ts';
import { limits } from '../limits.ts';
import { ManagedProcess, tailOf } from '../managed-process.ts';
import { poll } from '../poll.ts';
import { nodeAddress } from '../network/layout.ts';
import { claimAddress } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';
import { removeCgroup } from '../run/clean.ts';
import { currentRun } from '../run/run.ts';
import { waitReady } from '../wait-ready.ts';
import { cgroupMountPoints, currentHierarchies, makeCgroups, nodeCgroups } from './cgroups.ts';
import {
  bridgeNetwork,
  containerdConfiguration,
  healthPort,
  kubeletConfiguration,
  kubeletPort,
  loopbackNetwork,
} from './configuration.ts';
import type { NodePaths } from './configuration.ts';
import { kubeProxyCommand } from './kube-proxy.ts';
import { saysReady } from './readiness.ts';
import { innerScript, joinScript } from './scripts.ts';
import type { ScriptInput } from './scripts.ts';
import { nodeSupport } from './support.ts';

/** Options of {@link Node.start}. */
export interface NodeOptions {
  /** Paths of OCI image archives that pods can use, with `imagePullPolicy: Never` or `IfNotPresent`. Default: none. */
  readonly images?: readonly string[];
}

/** Two such nodes never meet. */
const onOwnNetwork: Claim<string> = { value: nodeAddress, release: () => undefined };

/** A running node. */
export class Node {
  /** Its name in the cluster, and the address its kubelet listens on: of loopback, or of its own network. */
  readonly name: string;
  /** Its folder: configuration, images, `kubelet.log`, `containerd.log`, logs of pods. */
  readonly dir: string;
  #plane: ControlPlane;
  #claim: Claim<string>;
  #cgroups: readonly string[];
  #ctr: string;
  #process: ManagedProcess | undefined;
  #forget: (() => void) | undefined;
  #startedAt = 0;
  #health = '';

  /**
   * Starts a node of `plane`, and the plane's scheduler when it is not up. Resolves when the node is Ready.
   *
   * @throws MusterError UNSUPPORTED where {@link nodeSupport} says no; INTERNAL with the ends of the logs when a program
   * ended; TIMEOUT.
   */
  static async start(plane: ControlPlane, options: NodeOptions = {}): Promise<Node> {
    const support = nodeSupport();
    if (!support.supported) {
      throw new MusterError('UNSUPPORTED', `no real node can run here: ${support.reason}`, {
        hint: 'Use ProcessRunner, which needs no root and no Linux.',
      });
    }
    const run = await currentRun();
    const scheduler = plane.ensure('kube-scheduler');
    scheduler.catch(() => undefined); // awaited below, unless something else fails first
    const programs = await Promise.all([binary('kubelet'), binary('containerd'), binary('runc'), binary('cni')]);
    const { network } = plane;
    const claim = network === undefined ? await claimAddress([kubeletPort, healthPort]) : onOwnNetwork;
    const dir = run.makeDir('node');
    const cgroups = nodeCgroups(`muster-${process.pid}-${basename(dir)}`);
    if ('reason' in cgroups) throw new MusterError('UNSUPPORTED', cgroups.reason); // as support said otherwise: a race
    const pause = await buildPauseImage();
    const node = new Node(plane, claim, dir, cgroups, programs[1]);
    try {
      node.#writeFiles(programs, [pause.archive, ...(options.images ?? [])], await node.#kubeProxy());
      const health = await network?.forward({ host: claim.value, port: healthPort });
      node.#health = `http://${health ?? `${claim.value}:${healthPort}`}`;
      await node.restart();
      await scheduler;
      return node;
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  private constructor(
    plane: ControlPlane,
    claim: Claim<string>,
    dir: string,
    cgroups: readonly string[],
    containerd: string,
  ) {
    this.#plane = plane;
    this.#claim = claim;
    this.#cgroups = cgroups;
    const beside = join(dirname(containerd), 'ctr');
    this.#ctr = existsSync(beside) ? beside : (onPath('ctr') ?? 'ctr');
    this.name = claim.value;
    this.dir = dir;
  }

  /** True while the node's processes run. */
  get running(): boolean {
    return this.#process?.running === true;
  }

  /** Starts it on its folder, when it was killed, and waits until it is Ready. Its pods come back, as after a power cut. */
  async restart(): Promise<void> {
    await this.kill();
    const run = await currentRun();
    this.#forget = run.register('cgroup', this.#cgroups);
    makeCgroups(this.#cgroups);
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const unshare = [onPath('unshare') ?? 'unshare', ...namespaces, 'sh', join(this.dir, 'join.sh')];
    const [command = '', ...args] = [...(this.#plane.network?.inside.enter ?? []), ...unshare];
    this.#startedAt = Date.now();
    this.#process = await ManagedProcess.start({
      name: `node ${this.name}`,
      command,
      args,
      logFile: join(this.dir, 'node.log'),
      cwd: this.dir,
    });
    await this.ready();
  }

  /** Waits until its kubelet runs and has told the API that it is Ready. */
  async ready(): Promise<void> {
    const program = this.#process;
    if (program === undefined) throw new MusterError('INTERNAL', `node ${this.name} was not started`);
    try {
      const what = `node ${this.name} to be Ready`;
      await waitReady(program, () => this.#isReady(), { what, limitMs: limits.nodeReady });
    } catch (error) {
      const logs = ['import.log', 'containerd.log', 'kubelet.log', 'kube-proxy.log'].map(
        (name) => `--- ${name}\n${tailOf(join(this.dir, name), 8)}`,
      );
      const text = [error instanceof Error ? error.message : String(error), ...logs].join('\n');
      const hint = text.includes('too many open files')
        ? 'Raise the number of inotify instances: sysctl fs.inotify.max_user_instances=1024.'
        : `Its whole logs are in ${this.dir}.`;
      throw new MusterError('INTERNAL', text, { hint, cause: error });
    }
  }

  /** Imports one more image archive into the running node. */
  async importImage(archive: string): Promise<void> {
    const importing = await ManagedProcess.start({
      name: `import of ${archive}`,
      command: this.#ctr,
      args: ['-a', join(this.dir, 'containerd.sock'), '-n', 'k8s.io', 'images', 'import', archive],
      logFile: join(this.dir, 'import.log'),
    });
    const status = await importing.exited;
    if (status.code !== 0) await importing.failure();
  }

  /** SIGKILL of kubelet, containerd and every pod, as a power cut. The API keeps the Node and its Pods. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    // The namespace's processes die with its first one; the groups are empty when the last is gone.
    for (const group of this.#cgroups) {
      await poll(() => removeCgroup(group) || undefined, { what: `cgroup ${group} to be empty`, limitMs: limits.kill });
    }
    this.#forget?.();
    this.#forget = undefined;
  }

  /** Ends it for good. The Node object stays in the API: delete it there when the plane lives on. */
  async close(): Promise<void> {
    await this.kill();
    this.#claim.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Its command line, where there is one. */
  async #kubeProxy(): Promise<Pick<ScriptInput, 'kubeProxy'>> {
    if (this.#plane.network === undefined) return {};
    const [program, iptables] = await Promise.all([binary('kube-proxy'), binary('iptables')]);
    return { kubeProxy: kubeProxyCommand(program, iptables, this.name, this.#plane.kubeconfigPath) };
  }

  #writeFiles(
    [kubelet, containerd, runc, cni]: readonly [string, string, string, string],
    images: string[],
    kubeProxy: Pick<ScriptInput, 'kubeProxy'>,
  ): void {
    for (const folder of ['kubelet', 'containerd', 'cni', 'pods', 'plugins']) mkdirSync(join(this.dir, folder));
    const write = (name: string, text: string): void => writeFileSync(join(this.dir, name), text, { mode: 0o600 });
    const paths: NodePaths = {
      dir: this.dir,
      address: this.name,
      runc,
      cni,
      // overlayfs on overlayfs (a temp folder inside a container) is refused by the kernel.
      snapshotter: statfsSync(this.dir).type === 0x794c7630 ? 'native' : 'overlayfs',
      pauseImage: pauseImageRef,
    };
    const client = this.#plane.issueClientCertificate(`system:node:${this.name}`, ['system:nodes']);
    const serving = this.#plane.issueServerCertificate(`system:node:${this.name}`, [this.name]);
    write('ca.crt', this.#plane.ca);
    write('kubelet.crt', serving.cert);
    write('kubelet.key', serving.key);
    write('kubelet.kubeconfig', this.#plane.kubeconfigFor(client));
    write('kubelet.json', kubeletConfiguration(paths));
    write('containerd.toml', containerdConfiguration(paths));
    write('cni/10-pods.conflist', this.#plane.network === undefined ? loopbackNetwork : bridgeNetwork(this.dir));
    write('images', images.map((path) => `${path}\n`).join(''));
    if (existsSync('/etc/resolv.conf')) copyFileSync('/etc/resolv.conf', join(this.dir, 'resolv.conf'));
    else write('resolv.conf', '');
    const input: ScriptInput = {
      dir: this.dir,
      address: this.name,
      cgroups: this.#cgroups,
      hierarchies: currentHierarchies(),
      cgroupMountPoints: cgroupMountPoints(),
      containerd,
      ctr: this.#ctr,
      kubelet,
      ...kubeProxy,
    };
    write('join.sh', joinScript(input));
    write('inner.sh', innerScript(input));
  }

  async #isReady(): Promise<true | undefined> {
    const health = await httpGet({ server: this.#health }, '/healthz');
    if (health?.status !== 200) return undefined;
    const target = { server: this.#plane.server, ca: this.#plane.ca, token: this.#plane.adminToken };
    const answer = await httpGet(target, `/api/v1/nodes/${this.name}`);
    return answer?.status === 200 && saysReady(answer.text, this.#startedAt) ? true : undefined;
  }
}
