/**
 * A TCP relay that can be cut: in front of any server, TLS or not, since it does not look at the bytes. For "the network
 * is gone": connections reset, refused, or silently swallowed.
 */
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { claimPort } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';

/** `open`: relays. `refused`: nothing listens. `reset`: accepts and resets. `silent`: accepts and never answers. */
export type CutState = 'open' | 'refused' | 'reset' | 'silent';

/** A relay on a port of its own. */
export class TcpCut {
  readonly port: number;
  #claim: Claim<number>;
  #target: { host: string; port: number };
  #server: Server;
  #sockets = new Set<Socket>();
  #state: CutState = 'open';

  /** Relays to `target` (`https://127.0.0.1:PORT` or `127.0.0.1:PORT`). */
  static async start(target: string): Promise<TcpCut> {
    const cut = new TcpCut(target, await claimPort());
    await cut.#listen();
    return cut;
  }

  private constructor(target: string, claim: Claim<number>) {
    const url = new URL(target.includes('://') ? target : `tcp://${target}`);
    this.#target = { host: url.hostname, port: Number(url.port) };
    this.#claim = claim;
    this.port = claim.value;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  /** `https://127.0.0.1:PORT`: a serving certificate for 127.0.0.1 stays valid through the relay. */
  get server(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get state(): CutState {
    return this.#state;
  }

  /** Connections that are open now, counted on the caller's side. */
  get connections(): number {
    return [...this.#sockets].filter((socket) => socket.localPort === this.port).length;
  }

  /** How new connections fare from now on. Existing ones: `refused` and `reset` reset them, `silent` freezes them. */
  async set(state: CutState): Promise<void> {
    this.#state = state;
    if (state === 'refused' || state === 'reset') this.dropAll();
    if (state === 'silent') for (const socket of this.#sockets) socket.pause();
    if (state === 'open') for (const socket of this.#sockets) socket.resume();
    if (state === 'refused') await this.#unlisten();
    else if (!this.#server.listening) await this.#listen();
  }

  /** Resets every connection that is open now; new ones are not affected. */
  dropAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.dropAll();
    await this.#unlisten();
    this.#claim.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(near: Socket): void {
    this.#track(near);
    if (this.#state === 'reset') {
      near.resetAndDestroy();
      return;
    }
    if (this.#state === 'silent') {
      near.pause();
      return;
    }
    const far = connect({ ...this.#target, allowHalfOpen: true });
    this.#track(far);
    near.pipe(far);
    far.pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // a reset by either side is the point of the exercise
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port: this.port, host: '127.0.0.1' }, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  #unlisten(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#server.listening) return resolve();
      this.#server.close(() => resolve());
    });
  }
}
