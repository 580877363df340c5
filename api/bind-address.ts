/** Addresses that health and metrics endpoints listen on, as hub and agent take them from the environment. */
import { MusterError } from './errors.ts';

/** `host` is absent when the endpoint listens on every address. */
export interface BindAddress {
  readonly host?: string;
  readonly port: number;
}

/**
 * Reads `:8081`, `127.0.0.1:8081` or `[::1]:8081`. `0` (and an empty text) means that the endpoint is off: undefined.
 * Throws INVALID_ARGUMENT naming `where`.
 */
export function parseBindAddress(text: string, where: string): BindAddress | undefined {
  if (text === '' || text === '0') return undefined;
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new MusterError('INVALID_ARGUMENT', 'is not an address to listen on', {
      where,
      hint: 'Write host:port or :port, with a port up to 65535; 0 switches the endpoint off.',
    });
  const host = match[1] ?? match[2] ?? '';
  return host === '' || host === '0.0.0.0' || host === '::' ? { port } : { host, port };
}

/** True for an address that only the pod itself (or, on the node's network, the node) can reach. */
export function isLoopback({ host }: BindAddress): boolean {
  return host !== undefined && (host === '::1' || host === 'localhost' || host.startsWith('127.'));
}
