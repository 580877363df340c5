/** Why a program could not be had. A closed set: callers branch on `code`, people read `message` and `hint`. */
export type ToolErrorCode =
  | 'MISSING_TOOLCHAIN'
  | 'REGISTRY_UNREACHABLE'
  | 'BUILD_FAILED'
  | 'NOT_INSTALLED'
  | 'NOT_ENOUGH_MEMORY'
  | 'UNSUPPORTED_PLATFORM'
  | 'CACHE_NOT_WRITABLE'
  | 'INVALID_ARGUMENT';

/** Options of {@link ToolError}. */
export interface ToolErrorOptions {
  /** What could not be had: program names with versions, or a file. */
  readonly what?: string;
  /** What to do next, as a full sentence. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The one error of `tools/`, which imports nothing from the package and so has its own class. */
export class ToolError extends Error {
  readonly code: ToolErrorCode;
  readonly what: string | undefined;
  readonly hint: string | undefined;

  constructor(code: ToolErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolError';
    this.code = code;
    this.what = options.what;
    this.hint = options.hint;
  }

  /** For a terminal: `[CODE] what: message. Hint`. */
  describe(): string {
    const what = this.what === undefined ? '' : `${this.what}: `;
    const hint = this.hint === undefined ? '' : ` ${this.hint}`;
    const end = hint === '' || /[.\n]$/.test(this.message) ? '' : '.';
    return `[${this.code}] ${what}${this.message}${end}${hint}`;
  }
}
