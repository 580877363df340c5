/** HTTP CONNECT (RFC 9110, 9.3.6), both ends: how a connection is made by somebody who stands elsewhere. */
import { createServer, request } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { relay } from './relay.ts';

/** What a tunnel leads to. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** `HOST:PORT`, or a URL with a port. */
export function endpointOf(text: string): Endpoint {
  const url = new URL(text.includes('://') ? text : `tcp://${text}`);
  return { host: url.hostname, port: Number(url.port) };
}

/** How a server makes tunnels. */
export interface TunnelRules {
  /** Where a tunnel to `HOST:PORT` goes; undefined = nowhere (403). */
  readonly route: (target: string) => Endpoint | undefined;
  /** Told of both ends of every tunnel that was made. */
  readonly onTunnel?: (near: Socket, far: Socket) => void;
}

/** A proxy that makes tunnels and nothing else; the caller lets it listen. */
export function createConnectServer({ route, onTunnel }: TunnelRules): Server {
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (incoming, stream) => {
    const near = stream as Socket;
    near.on('error', () => near.destroy());
    const target = route(incoming.url ?? '');
    if (target === undefined) return near.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const far = connect({ ...target, allowHalfOpen: true });
    const refuse = (): void => void near.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    near.once('close', () => far.destroy());
    far.once('error', refuse);
    far.once('connect', () => {
      far.off('error', refuse);
      near.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      relay(near, far);
      onTunnel?.(near, far);
    });
    return undefined;
  });
  return server;
}

/**
 * A connection to `target`, made by the proxy that listens on a Unix socket.
 *
 * @returns undefined when the target refuses, or does not answer within `limitMs`.
 */
export function connectVia(socketPath: string, target: Endpoint, limitMs: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const path = `${target.host}:${target.port}`;
    const call = request({ socketPath, method: 'CONNECT', path, agent: false, timeout: limitMs });
    const fail = (): void => {
      call.destroy();
      resolve(undefined);
    };
    call.once('connect', (response, stream) => {
      const socket = stream as Socket;
      if (response.statusCode !== 200) {
        socket.destroy();
        return resolve(undefined);
      }
      socket.setTimeout(0);
      resolve(socket);
    });
    call.once('timeout', fail);
    call.on('error', fail);
    call.end();
  });
}
