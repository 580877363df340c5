/** From a raw answer to JSON or to the error that it stands for. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { MusterError } from '../../api/errors.ts';
import type { StatusDetails } from './api-error.ts';
import { ApiError } from './api-error.ts';
import type { TransportResponse } from './transport.ts';
import { notKubernetes } from './transport-error.ts';

/** A page of 500 objects of the largest size that etcd takes (1.5 MB) would be more; real pages are a hundredth. */
const largestAnswer = 256 * 1024 * 1024;

/** The whole body as text. Rejects when the connection ends early. */
export async function collect(response: IncomingMessage, server: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // by events: an iterator over the stream costs a burst as much as all its JSON
  await new Promise<void>((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > largestAnswer) response.destroy(notKubernetes(server, 'sends an answer of more than 256 MiB'));
      else chunks.push(chunk);
    });
    response.once('end', resolve);
    response.once('error', reject);
    response.once('close', () => {
      if (!response.complete) reject(Object.assign(new Error('ended early'), { code: 'ECONNRESET' }));
    });
  });
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  if (response.headers['content-encoding'] !== 'gzip') return body.toString('utf8');
  const { gunzipSync } = await import('node:zlib');
  return gunzipSync(body, { maxOutputLength: largestAnswer }).toString('utf8');
}

/** Retry-After in milliseconds: seconds or an HTTP date. */
export function retryAfterMs(headers: IncomingHttpHeaders, now: () => number = Date.now): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

interface Status {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

/** The JSON of a good answer. Throws ApiError for refusals and MusterError NOT_KUBERNETES for what is no API. */
export function decode(response: TransportResponse, server: string, what: string): unknown {
  const type = response.headers['content-type'] ?? '';
  if (response.status >= 200 && response.status < 300) {
    if (type.startsWith('text/plain')) return response.body;
    if (type.startsWith('text/html')) throw notKubernetes(server, 'answers with a web page');
    try {
      return JSON.parse(response.body);
    } catch {
      throw notKubernetes(server, 'answers with something that is not JSON');
    }
  }
  if (response.status < 400) throw notKubernetes(server, `redirects to elsewhere (HTTP ${response.status})`);
  if (type.startsWith('text/html')) throw webPage(response.status, server);
  throw apiError(response, what);
}

function webPage(status: number, server: string): MusterError {
  if (status < 502 || status > 504) return notKubernetes(server, `answers with a web page (HTTP ${status})`);
  return new MusterError('UNREACHABLE', `is behind a proxy that cannot reach it (HTTP ${status})`, {
    where: server,
    hint: 'Check the load balancer in front of the API server; it may be starting.',
    retryable: true,
  });
}

function apiError(response: TransportResponse, what: string): ApiError {
  const status = readStatus(response.body);
  const details = status?.details;
  const fromDetails = details?.retryAfterSeconds === undefined ? undefined : details.retryAfterSeconds * 1000;
  const wait = retryAfterMs(response.headers) ?? fromDetails;
  // Text that is no Status (filters in front of the API answer so) is cut: it is shown in conditions.
  const message = status?.message ?? response.body.trim().slice(0, 200);
  return new ApiError(`${what}: ${message === '' ? `HTTP ${response.status}` : message}`, {
    status: response.status,
    reason: status?.reason ?? reasons[response.status] ?? '',
    ...(details === undefined ? {} : { details }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
};

function readStatus(body: string): Status | undefined {
  try {
    const value = JSON.parse(body) as Status | null;
    return value?.kind === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The ApiError of the Status in a watch's ERROR event. */
export function statusError(value: unknown, what: string): ApiError {
  const status = (typeof value === 'object' && value !== null ? value : {}) as Status;
  return new ApiError(`${what}: ${status.message ?? 'the watch failed'}`, {
    status: status.code ?? 500,
    reason: status.reason ?? '',
    ...(status.details === undefined ? {} : { details: status.details }),
  });
}
