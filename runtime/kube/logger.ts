/**
 * Structured logs: pino, one JSON object per line. Secrets are kept out twice: by path, and by the shape of
 * tokens and private keys in the finished line.
 */
import { destination, pino } from 'pino';
import { redactTokens } from './redact.ts';

export { redactTokens } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** What the runtime asks of a logger; a pino logger is one. */
export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
  /** A logger that adds `fields` to every line. */
  child(fields: Record<string, unknown>): Logger;
}

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** Default: `info`. */
  readonly level?: LogLevel;
  /** Field `name` of every line, such as `hub`. */
  readonly name?: string;
  /** Takes finished lines. Default: standard error, unbuffered, so that the last line before a crash is there. */
  readonly write?: (line: string) => void;
}

/** Fields that may hold a credential, at the top or up to two levels down. */
const secretKeys = ['token', 'password', 'kubeconfig', 'authorization', 'clientKey', 'data', 'stringData', 'values'];

const secretPaths = [
  ...secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
  // A key at the top is the name of an object; deeper down it is that of a client certificate.
  '*.key',
  '*.*.key',
];

/** A logger whose lines carry no credentials. `error` and `err` fields are written with type, message and stack. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const stream = options.write === undefined ? destination({ fd: 2, sync: true }) : { write: options.write };
  return pino(
    {
      level: options.level ?? 'info',
      ...(options.name === undefined ? {} : { name: options.name }),
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err, err: pino.stdSerializers.err },
      redact: { paths: secretPaths, censor: '[redacted]' },
      hooks: { streamWrite: redactTokens },
    },
    stream,
  );
}

/** Drops every line; the default where no logger is given. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
