/** An HTTP proxy that makes tunnels (CONNECT) to chosen servers: what a company puts between its clusters and a hub. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createConnectServer, endpointOf } from '../network/connect.ts';
import { claimPort } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';

/** A proxy on a port of its own. */
export class ConnectProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Every target that somebody asked for, in order, refused ones too. */
  readonly asked: string[] = [];
  #claim: Claim<number>;
  #server: Server;
  #sockets = new Set<Socket>();
  #tunnels = 0;

  /**
   * @param routes `HOST:PORT` as clients name it → the `127.0.0.1:PORT` that it stands for. A tunnel to anything else is
   * refused (403). Clients need not be able to resolve HOST.
   */
  static async start(routes: Readonly<Record<string, string>>): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(routes, await claimPort());
    proxy.#server.listen(proxy.#claim.value, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(routes: Readonly<Record<string, string>>, claim: Claim<number>) {
    this.#claim = claim;
    this.url = `http://127.0.0.1:${claim.value}`;
    this.#server = createConnectServer({
      route: (target) => {
        this.asked.push(target);
        const known = routes[target];
        return known === undefined ? undefined : endpointOf(known);
      },
      onTunnel: (...ends) => {
        this.#tunnels++;
        for (const socket of ends) {
          this.#sockets.add(socket);
          socket.once('close', () => this.#sockets.delete(socket));
        }
      },
    });
  }

  /** Tunnels made so far. */
  get tunnels(): number {
    return this.#tunnels;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#claim.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
