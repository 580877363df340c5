/** The API server's own refusals: one class, and predicates for the cases that callers branch on. */

/** `details` of a Kubernetes `Status`, as far as it is used here. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly { reason?: string; message?: string; field?: string }[];
}

/** Options of {@link ApiError}. */
export interface ApiErrorOptions {
  /** HTTP status, or the `code` of an ERROR event of a watch. */
  readonly status: number;
  /** `reason` of the Status, such as `NotFound` or `AlreadyExists`; empty when the server gave none. */
  readonly reason: string;
  readonly details?: StatusDetails;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** An answer of 300 and above. The message is `METHOD path: server's message`; request bodies and headers never enter it. */
export class ApiError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ApiErrorOptions) {
    super(message);
    this.name = 'ApiError';
    this.status = options.status;
    this.reason = options.reason;
    this.details = options.details ?? {};
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** True for an ApiError (of any copy of this package) with one of `statuses`; any status when none is given. */
export function isApiError(error: unknown, ...statuses: number[]): error is ApiError {
  if (!(error instanceof Error) || error.name !== 'ApiError') return false;
  return statuses.length === 0 || statuses.includes((error as ApiError).status);
}

export function isNotFound(error: unknown): error is ApiError {
  return isApiError(error, 404);
}

export function isUnauthorized(error: unknown): error is ApiError {
  return isApiError(error, 401);
}

export function isForbidden(error: unknown): error is ApiError {
  return isApiError(error, 403);
}

/** 409 because the object changed (or a precondition failed), not because the name is taken. */
export function isConflict(error: unknown): error is ApiError {
  return isApiError(error, 409) && error.reason !== 'AlreadyExists';
}

/** 409 because an object of this name is there. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return isApiError(error, 409) && error.reason === 'AlreadyExists';
}

/** 410: the resourceVersion or continue token is too old; list again. */
export function isExpired(error: unknown): error is ApiError {
  return isApiError(error, 410);
}

/** 422: the object violates its schema or an immutable field was changed. */
export function isInvalid(error: unknown): error is ApiError {
  return isApiError(error, 422);
}

export function isTooManyRequests(error: unknown): error is ApiError {
  return isApiError(error, 429);
}

/** 403 because the namespace is being deleted: creating there will work again only after it is gone and remade. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return isForbidden(error) && (error.details.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
}
