/** The ports that Kubernetes and Prometheus ask: /healthz, /livez, /readyz and /metrics. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MusterError } from '../../api/errors.ts';
import type { Metrics } from './metrics.ts';

/** Throws (or rejects) when something is not well; the message is shown to whoever asks. */
export type HealthCheck = () => void | Promise<void>;

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly contentType?: string;
}

/** Path to what it answers. */
export type Routes = Readonly<Record<string, () => Promise<Answer>>>;

export interface Endpoint {
  /** Where it listens, such as `127.0.0.1:8081`; the real port where 0 was asked for. */
  readonly address: string;
  close(): Promise<void>;
}

/** `:8081` is all interfaces, as in Go; `undefined` for `0` and an empty text, which disable. */
export function parseBindAddress(address: string): { host?: string; port: number } | undefined {
  if (address === '0' || address === '') return undefined;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new MusterError('INVALID_ARGUMENT', 'must be HOST:PORT, :PORT, or 0 to disable', { where: address });
  }
  const host = match[1] ?? match[2] ?? '';
  return { ...(host === '' ? {} : { host }), port };
}

/** The answer of a list of checks: 200, or 500 with a line for each that failed. */
export async function answerChecks(checks: ReadonlyMap<string, HealthCheck>): Promise<Answer> {
  const lines: string[] = [];
  let well = true;
  for (const [name, check] of checks) {
    try {
      await check();
      lines.push(`[+]${name} ok`);
    } catch (error) {
      well = false;
      lines.push(`[-]${name} failed: ${error instanceof Error ? error.message : 'not well'}`);
    }
  }
  return { status: well ? 200 : 500, body: [...lines, well ? 'ok' : 'not ok', ''].join('\n') };
}

/** The answer of /metrics. */
export async function answerMetrics(metrics: Metrics): Promise<Answer> {
  return { status: 200, body: await metrics.text(), contentType: metrics.contentType };
}

/**
 * Serves the routes until closed; `undefined` when the address disables it. Rejects with MusterError IN_USE when the
 * port is taken.
 */
export async function serve(address: string, routes: Routes): Promise<Endpoint | undefined> {
  const target = parseBindAddress(address);
  if (target === undefined) return undefined;
  const server = createServer((request, response) => void respond(routes, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const options = { where: address, hint: 'Choose another address, or 0 to serve nothing.' };
      const text = taken ? 'the port is taken' : `cannot listen (${error.code ?? 'error'})`;
      reject(new MusterError(taken ? 'IN_USE' : 'INVALID_ARGUMENT', text, options));
    });
    server.listen(target, resolve);
  });
  const bound = server.address() as AddressInfo;
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return { address: `${host}:${bound.port}`, close: () => close(server) };
}

async function respond(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.resume();
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  const readOnly = request.method === 'GET' || request.method === 'HEAD';
  const answer = route === undefined || !readOnly ? notThere : await route().catch(broken);
  response.writeHead(answer.status, { 'content-type': answer.contentType ?? 'text/plain; charset=utf-8' });
  response.end(answer.body);
}

const notThere: Answer = { status: 404, body: 'not found\n' };

function broken(): Answer {
  return { status: 500, body: 'internal error\n' };
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
