/**
 * The network of a cluster that nobody can reach: a network namespace of its own, joined by a wire to a second one, the
 * outside, where only chosen ports lead on into the test's world. The cluster may open connections to the outside; those
 * from the outside are dropped without an answer, as a firewall does. The machine's own interfaces, firewall and
 * settings are not touched, and the namespaces end with their processes.
 */
import { connect, createServer } from 'node:net';
import type { ListenOptions, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { MusterError } from '../../../api/errors.ts';
import { binary } from '../binaries.ts';
import { claimPort } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';
import { currentRun } from '../run/run.ts';
import { endpointOf } from './connect.ts';
import type { Endpoint } from './connect.ts';
import { NetworkNamespace } from './namespace.ts';
import { relay, reset } from './relay.ts';
import { cutScript, healScript, insideScript, outsideScript } from './scripts.ts';
import { isolationSupport } from './support.ts';

/** What a cluster on a network of its own is made with. */
export interface NetworkOptions {
  /**
   * What the cluster can reach, by port of `outsideAddress`: `https://127.0.0.1:PORT` or `127.0.0.1:PORT` of this
   * machine. There is nothing else out there, no DNS either.
   */
  readonly reach: Readonly<Record<number, string>>;
}

/** Opens the other half of a connection; undefined = it cannot be had. */
type Opener = () => Socket | Promise<Socket | undefined>;

/** A network with a wire that can be cut. */
export class IsolatedNetwork {
  /** Where the cluster's own programs run. */
  readonly inside: NetworkNamespace;
  /** Where an outsider stands, as the hub does. */
  readonly outside: NetworkNamespace;
  #servers: Server[] = [];
  #claims: Claim<number>[] = [];
  #sockets = new Set<Socket>();

  /**
   * Makes one.
   *
   * @throws MusterError UNSUPPORTED where {@link isolationSupport} says no.
   */
  static async start({ reach }: NetworkOptions): Promise<IsolatedNetwork> {
    const support = isolationSupport();
    if (!support.supported) {
      throw new MusterError('UNSUPPORTED', `no isolated network can be had here: ${support.reason}`);
    }
    await binary('iptables'); // installs it where that is possible
    const dir = (await currentRun()).makeDir('network');
    const exits = Object.entries(reach).map(([port, target]) => ({ port, target, path: join(dir, `${port}.sock`) }));
    const inside = await NetworkNamespace.start(dir, 'inside');
    const paths = Object.fromEntries(exits.map(({ port, path }) => [port, path]));
    const outside = await NetworkNamespace.start(dir, 'outside', paths).catch(async (error: unknown) => {
      await inside.close();
      throw error;
    });
    const network = new IsolatedNetwork(inside, outside);
    try {
      for (const { path, target } of exits) {
        await network.#listen({ path }, () => connect({ ...endpointOf(target), allowHalfOpen: true }));
      }
      await outside.run(outsideScript(inside.pid));
      await inside.run(insideScript);
      return network;
    } catch (error) {
      await network.close();
      throw error;
    }
  }

  private constructor(inside: NetworkNamespace, outside: NetworkNamespace) {
    this.inside = inside;
    this.outside = outside;
  }

  /** From now on the wire swallows every packet; open connections stay open and silent at both ends. */
  async cut(): Promise<void> {
    await this.outside.run(cutScript);
  }

  /** The wire carries packets again. */
  async heal(): Promise<void> {
    await this.outside.run(healScript);
  }

  /**
   * Lets this machine reach a server inside, for the test's own hands and eyes: not by the wire, so it works while that
   * is cut, and nobody inside can tell.
   *
   * @param at the port of 127.0.0.1 that leads there. Default: any free one.
   * @returns `127.0.0.1:PORT`
   */
  async forward(target: Endpoint, at?: number): Promise<string> {
    const port = at ?? (await this.#claim());
    await this.#listen({ host: '127.0.0.1', port }, () => this.inside.dial(target));
    return `127.0.0.1:${port}`;
  }

  /** Ends it, and with it whatever still runs inside. */
  async close(): Promise<void> {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([this.inside.close(), this.outside.close()]);
    for (const claim of this.#claims) claim.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #claim(): Promise<number> {
    const claim = await claimPort();
    this.#claims.push(claim);
    return claim.value;
  }

  async #listen(at: ListenOptions, open: Opener): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (near) => void this.#join(near, open));
    this.#servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, resolve);
    });
  }

  async #join(near: Socket, open: Opener): Promise<void> {
    this.#track(near);
    const far = await open();
    if (far === undefined || near.destroyed) {
      reset(near);
      far?.destroy();
      return;
    }
    this.#track(far);
    relay(near, far);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // told to the other end by the relay
  }
}
