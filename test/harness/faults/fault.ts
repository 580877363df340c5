/** What can be made to go wrong, and for which requests. */

/** Which requests a fault hits. Absent fields match everything. */
export interface RequestMatch {
  /** One method or several, upper case. */
  readonly method?: string | readonly string[];
  /** Tested against path and query, as in `/api/v1/namespaces/default/secrets?watch=true`. */
  readonly path?: RegExp | string;
  /** True: only watches. False: everything but watches. */
  readonly watch?: boolean;
}

/** How they fail. Exactly one of the kinds. */
export type FaultKind =
  /** Answered with this status and a Kubernetes `Status` object, not forwarded. 429 and 503 carry Retry-After. */
  | {
      readonly status: number;
      /** Default: Kubernetes' reason for the status. */
      readonly reason?: string;
      readonly message?: string;
      /** Seconds. Default for 429: 1. */
      readonly retryAfter?: number;
    }
  /** `before`: reset without forwarding. `after`: forwarded and done, but the answer is lost with the connection. */
  | { readonly reset: 'before' | 'after' }
  /** Accepted and never answered; ends when the caller gives up or the fault is cleared (then: reset). */
  | { readonly hang: true }
  /** Forwarded after this many milliseconds. */
  | { readonly slowMs: number }
  /** A watch that is forwarded for `afterEvents` events (default: 0) and then goes silent, its connection still open. */
  | { readonly halfOpenWatch: true; readonly afterEvents?: number };

/** A fault with its matcher and how often it strikes. */
export type Fault = FaultKind & {
  readonly match?: RequestMatch;
  /** Default: until cleared. */
  readonly times?: number;
};

/** What is known of a request when a fault is chosen. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
}

/** True for a watch, by the query that makes it one. */
export function isWatch(path: string): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(path);
}

/** True when the fault hits the request. */
export function hits(match: RequestMatch, request: SeenRequest): boolean {
  const methods = match.method === undefined ? undefined : [match.method].flat();
  if (methods !== undefined && !methods.includes(request.method)) return false;
  if (match.watch !== undefined && match.watch !== isWatch(request.path)) return false;
  if (match.path === undefined) return true;
  return typeof match.path === 'string' ? request.path.includes(match.path) : match.path.test(request.path);
}

/** Kubernetes' StatusReason for a status, as its apimachinery defines them. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The body of an injected answer, as an apiserver would write it. */
export function statusBody(fault: { status: number; reason?: string; message?: string; retryAfter?: number }): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: fault.message ?? `injected ${fault.status}`,
    reason: fault.reason ?? reasons[fault.status] ?? 'Unknown',
    ...(fault.retryAfter === undefined ? {} : { details: { retryAfterSeconds: fault.retryAfter } }),
    code: fault.status,
  });
}
