/**
 * An HTTPS proxy in front of an apiserver that does what networks and busy apiservers do: resets, hangs, silence in the
 * middle of a watch, 409, 410, 429, 5xx, delay. It ends TLS with a certificate of its own CA and passes bearer tokens on,
 * so callers that sign in with a client certificate cannot use it.
 */
import { createServer, request as forward, Agent } from 'node:https';
import type { Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Authority } from '../pki/authority.ts';
import { claimPort } from '../run/claims.ts';
import type { Claim } from '../run/claims.ts';
import { hits, statusBody } from './fault.ts';
import type { Fault, SeenRequest } from './fault.ts';
import { passEvents } from './watch-lines.ts';

/** Where the proxy forwards to. A ControlPlane is one. */
export interface FaultTarget {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
}

/** A fault in effect. */
interface Active {
  readonly fault: Fault;
  left: number;
}

/** The proxy. */
export class FaultProxy {
  /** `https://127.0.0.1:PORT` */
  readonly server: string;
  /** The CA of its certificate, PEM. */
  readonly ca: string;
  /** Every request that arrived, in order, struck by a fault or not. */
  readonly requests: SeenRequest[] = [];
  #target: FaultTarget;
  #claim: Claim<number>;
  #http: Server;
  #agent: Agent;
  /** The TCP connections by the caller's port: TLS sockets cannot send a reset, the sockets below them can. */
  #sockets = new Map<number, Socket>();
  #faults: Active[] = [];
  /** Requests held by `hang` and watches silenced by `halfOpenWatch`. */
  #held = new Set<IncomingMessage>();

  static async start(target: FaultTarget): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, await claimPort());
    await new Promise<void>((resolve, reject) => {
      proxy.#http.once('error', reject);
      proxy.#http.listen({ port: proxy.#claim.value, host: '127.0.0.1' }, resolve);
    });
    return proxy;
  }

  private constructor(target: FaultTarget, claim: Claim<number>) {
    const authority = Authority.create('muster-fault-proxy-ca');
    const pair = authority.issue({ commonName: 'fault-proxy', hosts: ['127.0.0.1', 'localhost'], usages: ['server'] });
    this.#target = target;
    this.#claim = claim;
    this.server = `https://127.0.0.1:${claim.value}`;
    this.ca = authority.cert;
    this.#agent = new Agent({ keepAlive: true, ca: target.ca });
    this.#http = createServer({ cert: pair.cert, key: pair.key }, (request, response) =>
      this.#serve(request, response),
    );
    this.#http.on('connection', (socket: Socket) => {
      const port = socket.remotePort ?? 0;
      this.#sockets.set(port, socket);
      socket.once('close', () => this.#sockets.delete(port));
    });
    this.#http.on('tlsClientError', () => undefined); // callers that refuse the certificate are a test of theirs
  }

  /** Puts a fault into effect. Faults are tried in the order they were given; the first that matches strikes. */
  fail(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? Infinity });
  }

  /** Ends all faults. Requests that hang and watches that are silent are reset. */
  clear(): void {
    this.#faults = [];
    for (const request of this.#held) this.#reset(request);
    this.#held.clear();
  }

  /** Resets every open connection. */
  dropAll(): void {
    for (const socket of this.#sockets.values()) socket.resetAndDestroy();
  }

  /** How many requests that arrived would have been hit by `match`. */
  count(match: NonNullable<Fault['match']>): number {
    return this.requests.filter((seen) => hits(match, seen)).length;
  }

  async close(): Promise<void> {
    this.dropAll();
    this.#agent.destroy();
    await new Promise((resolve) => this.#http.close(resolve));
    this.#claim.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const seen = { method: request.method ?? 'GET', path: request.url ?? '/' };
    this.requests.push(seen);
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const fault = this.#strike(seen);
    if (fault === undefined) return this.#forward(request, response);
    if ('status' in fault) return answer(request, response, fault);
    if ('hang' in fault) return this.#hold(request);
    if ('slowMs' in fault) {
      const timer = setTimeout(() => this.#forward(request, response), fault.slowMs);
      request.once('close', () => request.socket.destroyed && clearTimeout(timer));
      return;
    }
    if ('halfOpenWatch' in fault) return this.#forward(request, response, { events: fault.afterEvents ?? 0 });
    if (fault.reset === 'before') return this.#reset(request);
    this.#forward(request, response, 'lose');
  }

  /** A TCP reset, as from a server that died: the caller gets ECONNRESET. */
  #reset(request: IncomingMessage): void {
    this.#sockets.get(request.socket.remotePort ?? 0)?.resetAndDestroy();
  }

  #strike(seen: SeenRequest): Fault | undefined {
    const active = this.#faults.find(({ fault, left }) => left > 0 && hits(fault.match ?? {}, seen));
    if (active === undefined) return undefined;
    active.left -= 1;
    return active.fault;
  }

  #hold(request: IncomingMessage): void {
    this.#held.add(request);
    request.socket.once('close', () => this.#held.delete(request));
  }

  /** `lose`: reset instead of answering. `events`: go silent after so many lines of a watch. */
  #forward(request: IncomingMessage, response: ServerResponse, mode?: 'lose' | { events: number }): void {
    const { connection: _connection, ...headers } = request.headers;
    const call = forward(new URL(request.url ?? '/', this.#target.server), {
      method: request.method,
      headers: { ...headers, host: new URL(this.#target.server).host },
      agent: this.#agent,
    });
    call.on('error', () => this.#reset(request));
    // `close` of the response also comes when it is complete; the call is over then and destroying it does nothing.
    response.on('close', () => call.destroy());
    call.on('response', (upstream) => {
      upstream.on('error', () => this.#reset(request));
      if (mode === 'lose') {
        upstream.resume();
        upstream.on('end', () => this.#reset(request));
        return;
      }
      const { connection: _hop, 'keep-alive': _keep, 'transfer-encoding': _coding, ...passed } = upstream.headers;
      response.writeHead(upstream.statusCode ?? 502, passed);
      if (mode === undefined) {
        response.flushHeaders();
        upstream.pipe(response);
        return;
      }
      response.flushHeaders();
      passEvents(upstream, response, mode.events);
      this.#hold(request);
    });
    request.pipe(call);
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  fault: { status: number; reason?: string; message?: string; retryAfter?: number },
): void {
  request.resume(); // read the body, or the connection cannot be used again
  request.on('end', () => {
    const retryAfter = fault.retryAfter ?? (fault.status === 429 ? 1 : undefined);
    const headers = {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    };
    response.writeHead(fault.status, headers);
    response.end(statusBody({ ...fault, ...(retryAfter === undefined ? {} : { retryAfter }) }));
  });
}
