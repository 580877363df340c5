/**
 * Every error that a user can cause. One class, a closed set of codes: callers branch on `code`, people read
 * `message` (what was wrong, where) and `hint` (what to do).
 */

/** Stable codes; each is documented in docs/errors.md. Never reuse or rename one. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'INVALID_KUBECONFIG'
  | 'KUBECONFIG_REFUSED'
  | 'UNREACHABLE'
  | 'TLS_UNTRUSTED'
  | 'NOT_KUBERNETES'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'ALREADY_OWNED'
  | 'CONFLICT'
  | 'TIMEOUT'
  | 'IN_USE'
  | 'TOKEN_EXPIRED'
  | 'WRONG_CLUSTER'
  | 'UNSUPPORTED'
  | 'SECRET_IN_CLEAR'
  | 'INTERNAL';

/** Options of {@link MusterError}. */
export interface MusterErrorOptions {
  /** Where: a property path (`spec.ttl`), an object (`Cluster fleet-default/east`) or an address. */
  readonly where?: string;
  /** What the reader should do next, as a full sentence. */
  readonly hint?: string;
  /** Whether trying again without a change can help. Default: false. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** An error with a stable code. Never put a token, key or kubeconfig in any of its texts. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  readonly where: string | undefined;
  readonly hint: string | undefined;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, options: MusterErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MusterError';
    this.code = code;
    this.where = options.where;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
  }

  /** One line for a terminal or a condition: `[CODE] where: message. Hint`. */
  describe(): string {
    const where = this.where === undefined ? '' : `${this.where}: `;
    const hint = this.hint === undefined ? '' : ` ${this.hint}`;
    return `[${this.code}] ${where}${this.message.replace(/\.$/, '')}.${hint}`;
  }
}

/** True for a MusterError (of any copy of this package) with one of `codes`; any code when none is given. */
export function isMusterError(error: unknown, ...codes: ErrorCode[]): error is MusterError {
  if (!(error instanceof Error) || error.name !== 'MusterError') return false;
  return codes.length === 0 || codes.includes((error as MusterError).code);
}
