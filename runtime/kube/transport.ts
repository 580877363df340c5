/** One HTTP exchange with an API server: credentials, pool, deadlines, retries, metrics. Knows nothing of resources. */
import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import { backoffMs, pause } from './backoff.ts';
import type { ClientConfig } from './client-config.ts';
import { createConnections } from './connections.ts';
import type { Credential } from './credentials.ts';
import { createCredentials } from './credentials.ts';
import type { Logger } from './logger.ts';
import { silentLogger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { kubeMetrics } from './metrics.ts';
import { collect, retryAfterMs } from './response.ts';
import type { TokenBucket } from './token-bucket.ts';
import { createTokenBucket } from './token-bucket.ts';
import { isReset, timeoutError, transportError } from './transport-error.ts';

/** Attempts of one call, the first included. */
const attempts = 4;

export interface TransportRequest {
  readonly method: string;
  /** Path and query, without the server's own prefix. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** Deadline of one attempt. Default: `durations.requestTimeout`. */
  readonly timeoutMs?: number;
  /** Waits for no connection of the pool. Default: false. */
  readonly urgent?: boolean;
  /** Sending it twice does no harm, so it is sent again after a reset. */
  readonly idempotent: boolean;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TransportOptions {
  readonly userAgent?: string;
  readonly qps?: number;
  readonly burst?: number;
  readonly maxConnections?: number;
  readonly gzip?: boolean;
  readonly metrics?: Metrics;
  readonly logger?: Logger;
}

export interface Transport {
  readonly server: string;
  /** Any complete answer, refusals included. Throws MusterError when there was none. */
  send(request: TransportRequest): Promise<TransportResponse>;
  /** As `send`, but a 200 is given as soon as its headers are there; the body has no deadline. */
  open(request: TransportRequest): Promise<TransportResponse | IncomingMessage>;
  close(): void;
}

export function createTransport(config: ClientConfig, options: TransportOptions = {}): Transport {
  const { metrics, logger = silentLogger } = options;
  const url = new URL(config.server);
  const credentials = createCredentials(config);
  const connections = createConnections(config, options.maxConnections ?? 16);
  const bucket: TokenBucket | undefined =
    options.qps === undefined ? undefined : createTokenBucket(options.qps, options.burst ?? options.qps * 2);
  let closed = false;

  const exchange = async (request: TransportRequest, stream: boolean): Promise<TransportResponse | IncomingMessage> => {
    const credential = await credentials.current();
    const started = performance.now();
    let code = '<error>';
    try {
      const agent = connections.agent(stream ? 'watch' : request.urgent === true ? 'urgent' : 'call', credential);
      const answer = await attempt({
        ...request,
        url,
        agent,
        headers: headersOf(request, credential, options),
        stream,
      });
      code = String('status' in answer ? answer.status : answer.statusCode);
      return answer;
    } finally {
      metrics?.counter(kubeMetrics.requests).inc({ code, method: request.method, host: url.host });
      if (!stream) {
        const seconds = (performance.now() - started) / 1000;
        metrics?.histogram(kubeMetrics.requestDuration).observe({ verb: request.method, host: url.host }, seconds);
      }
    }
  };

  const run = async (request: TransportRequest, stream: boolean): Promise<TransportResponse | IncomingMessage> => {
    let asked = false;
    for (let tries = 1; ; tries += 1) {
      if (closed) throw new MusterError('INTERNAL', 'the client is closed', { where: config.server });
      request.signal?.throwIfAborted();
      if (!stream) await bucket?.take(request.signal);
      let wait: number | undefined;
      try {
        const answer = await exchange(request, stream);
        if (!('body' in answer)) return answer;
        if (answer.status === 401 && !asked && credentials.refused()) {
          asked = true;
          continue;
        }
        wait = waitBeforeRetry(answer, tries, request.idempotent);
        if (wait === undefined) return answer;
      } catch (error) {
        request.signal?.throwIfAborted();
        if (!(request.idempotent && isReset(error) && tries < attempts)) throw transportError(error, config.server);
        wait = retryPause(tries);
      }
      logger.debug({ method: request.method, path: request.path, tries, waitMs: wait }, 'sending again');
      await pause(wait, request.signal);
    }
  };

  return {
    server: config.server,
    send: (request) => run(request, false) as Promise<TransportResponse>,
    open: (request) => run(request, true),
    close() {
      closed = true;
      connections.close();
    },
  };
}

function retryPause(tries: number): number {
  return backoffMs(tries, { baseMs: durations.retryFirst, maxMs: durations.retryLast, jitter: 0.5 });
}

/**
 * 429, and any 5xx with Retry-After, were turned away before they did anything, so every call may be sent again (as
 * client-go does). 502, 503 and 504 come from something in between that may have passed the call on.
 */
function waitBeforeRetry(answer: TransportResponse, tries: number, idempotent: boolean): number | undefined {
  if (tries >= attempts) return undefined;
  const asked = retryAfterMs(answer.headers);
  const turnedAway = answer.status === 429 || (answer.status >= 500 && asked !== undefined);
  const between = answer.status >= 502 && answer.status <= 504;
  if (!turnedAway && !(between && idempotent)) return undefined;
  if (asked === undefined) return retryPause(tries);
  return asked > durations.retryAfterLongest ? undefined : asked;
}

function headersOf(
  request: TransportRequest,
  credential: Credential,
  options: TransportOptions,
): Record<string, string | number> {
  return {
    accept: 'application/json',
    'user-agent': options.userAgent ?? 'muster',
    ...(options.gzip ? { 'accept-encoding': 'gzip' } : {}),
    ...(credential.authorization === undefined ? {} : { authorization: credential.authorization }),
    ...(request.body === undefined
      ? {}
      : {
          'content-type': request.contentType ?? 'application/json',
          'content-length': Buffer.byteLength(request.body),
        }),
  };
}

interface Attempt extends TransportRequest {
  readonly url: URL;
  readonly agent: Agent;
  readonly headers: Record<string, string | number>;
  readonly stream: boolean;
}

/** One attempt. Rejects with Node's own error, a TIMEOUT, or the signal's reason, whichever comes first. */
function attempt(call: Attempt): Promise<TransportResponse | IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { url, signal } = call;
    const timeoutMs = call.timeoutMs ?? durations.requestTimeout;
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? undefined : url.port,
      path: `${url.pathname.replace(/\/$/, '')}${call.path}`,
      method: call.method,
      headers: call.headers,
      agent: call.agent,
    });
    let deadline: NodeJS.Timeout | undefined;
    let connecting: NodeJS.Timeout | undefined;
    const settle = (): void => {
      clearTimeout(deadline);
      clearTimeout(connecting);
      signal?.removeEventListener('abort', abort);
    };
    const fail = (error: unknown): void => {
      settle();
      reject(error as Error);
      request.destroy();
    };
    const abort = (): void => fail(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    // The clock starts with the socket: waiting for a free connection of the pool is no fault of the server.
    request.once('socket', (socket: Socket) => {
      deadline = setTimeout(() => fail(timeoutError(url.origin, 'did not answer', timeoutMs)), timeoutMs);
      if (!socket.connecting) return;
      const limit = durations.connectTimeout;
      connecting = setTimeout(() => fail(timeoutError(url.origin, 'did not connect', limit)), limit);
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
    });
    request.once('error', fail);
    request.once('response', (response) => {
      if (call.stream && response.statusCode === 200) {
        settle();
        resolve(response);
        return;
      }
      collect(response, url.origin).then((body) => {
        settle();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      }, fail);
    });
    request.end(call.body);
  });
}
