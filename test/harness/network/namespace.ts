/** A network namespace. It has no name and no mount: it lives while its processes do, and so ends with the run. */
import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MusterError } from '../../../api/errors.ts';
import { onPath } from '../binaries.ts';
import { limits } from '../limits.ts';
import { ManagedProcess } from '../managed-process.ts';
import { currentRun } from '../run/run.ts';
import { waitReady } from '../wait-ready.ts';
import { connectVia } from './connect.ts';
import type { Endpoint } from './connect.ts';

const gateway = fileURLToPath(new URL('gateway.ts', import.meta.url));

/** A namespace with a gateway in it. */
export class NetworkNamespace {
  /** Words to put before a command line so that the program runs in here. */
  readonly enter: readonly string[];
  /** Of the gateway, by which others find the namespace. */
  readonly pid: number;
  #process: ManagedProcess;
  #socket: string;

  /** Makes one, empty but for a loopback device. `exits`: ports in it that lead to Unix sockets outside. */
  static async start(
    dir: string,
    name: string,
    exits: Readonly<Record<number, string>> = {},
  ): Promise<NetworkNamespace> {
    const socket = join(dir, `${name}.sock`);
    const pairs = Object.entries(exits).map(([port, path]) => `${port}=${path}`);
    const started = await ManagedProcess.start({
      name: `network ${name}`,
      command: onPath('unshare') ?? 'unshare',
      args: ['--net', process.execPath, '--no-warnings', gateway, socket, ...pairs],
      logFile: join(dir, `${name}.log`),
    });
    const namespace = new NetworkNamespace(started, socket);
    try {
      const look = (): Promise<true | undefined> => accepts(socket);
      await waitReady(started, look, { what: started.name, limitMs: limits.start });
      await namespace.run('ip link set lo up');
      return namespace;
    } catch (error) {
      await namespace.close();
      throw error;
    }
  }

  private constructor(started: ManagedProcess, socket: string) {
    this.#process = started;
    this.#socket = socket;
    this.pid = started.pid;
    this.enter = [onPath('nsenter') ?? 'nsenter', `--net=/proc/${started.pid}/ns/net`, '--'];
  }

  /**
   * Runs a shell script in here and returns what it wrote.
   *
   * @throws MusterError INTERNAL with what it said when a command of it fails.
   */
  async run(script: string): Promise<string> {
    const run = await currentRun();
    const [command = '', ...args] = [...this.enter, 'sh', '-ec', `PATH="$PATH:/usr/sbin:/sbin"\n${script}`];
    try {
      const { stdout } = await promisify(execFile)(command, args, { env: { ...process.env, ...run.environment } });
      return stdout;
    } catch (cause) {
      const { stderr = String(cause) } = cause as { stderr?: string };
      throw new MusterError('INTERNAL', `a script failed in ${this.#process.name}: ${stderr.trim()}`, { cause });
    }
  }

  /** A connection made from in here; undefined when it is refused or not answered within `limitMs`. */
  dial(target: Endpoint, limitMs: number = limits.probe): Promise<Socket | undefined> {
    return connectVia(this.#socket, target, limitMs);
  }

  async close(): Promise<void> {
    await this.#process.kill();
  }
}

function accepts(path: string): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
