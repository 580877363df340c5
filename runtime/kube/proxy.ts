/** Which proxy a connection goes through, and the tunnel through it. */
import type { ClientRequest, RequestOptions } from 'node:http';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig } from './client-config.ts';

/**
 * The proxy of a cluster: its `proxyUrl`, else HTTPS_PROXY or HTTP_PROXY by the server's scheme, unless NO_PROXY
 * names the host. As in Go's net/http, loopback addresses are never reached through a proxy of the environment.
 */
export function proxyFor(config: ClientConfig, env: NodeJS.ProcessEnv = process.env): URL | undefined {
  if (config.proxyUrl !== undefined) return new URL(config.proxyUrl);
  const { protocol, hostname, port } = new URL(config.server);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name] ?? env[name.toLowerCase()] ?? '';
  if (value === '' || host === 'localhost' || isLoopback(host)) return undefined;
  const excluded = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(',').some((rule) => matches(rule, host, port));
  if (excluded) return undefined;
  const full = value.includes('://') ? value : `http://${value}`;
  return URL.canParse(full) && /^https?:/.test(full) ? new URL(full) : undefined;
}

function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** One entry of NO_PROXY: `*`, a domain with its subdomains, `host:port`, an address or a CIDR range. */
function matches(entry: string, host: string, port: string): boolean {
  const rule = entry.trim().toLowerCase();
  if (rule === '') return false;
  if (rule === '*' || rule === host || rule === `${host}:${port}`) return true;
  const [network, prefix] = rule.split('/');
  if (prefix !== undefined && network !== undefined && isIP(host) !== 0 && isIP(network) === isIP(host)) {
    const family = isIP(host) === 4 ? 'ipv4' : 'ipv6';
    const bits = Number(prefix);
    if (!Number.isInteger(bits) || bits < 0 || bits > (family === 'ipv4' ? 32 : 128)) return false;
    const list = new BlockList();
    list.addSubnet(network, bits, family);
    return list.check(host, family);
  }
  return host.endsWith(rule.startsWith('.') ? rule : `.${rule}`);
}

/** A raw connection to `host:port` through the proxy. A user and password in its URL become Proxy-Authorization. */
export function connectThrough(proxy: URL, host: string, port: number): Promise<Socket> {
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const where = `proxy ${proxy.host}`;
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      request.destroy();
      const hint = 'Check proxy-url, HTTPS_PROXY and NO_PROXY.';
      reject(new MusterError('UNREACHABLE', reason, { where, hint, retryable: true }));
    };
    const credential = decodeURIComponent(`${proxy.username}:${proxy.password}`);
    const request = open(proxy, {
      method: 'CONNECT',
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port),
      path: target,
      agent: false,
      timeout: durations.connectTimeout,
      headers: {
        host: target,
        ...(credential === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credential).toString('base64')}` }),
      },
    });
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) {
        socket.setTimeout(0);
        resolve(socket as Socket);
      } else {
        socket.destroy();
        fail(`refused the tunnel (HTTP ${response.statusCode})`);
      }
    });
    request.once('timeout', () => fail('did not answer in time'));
    request.once('error', (error: NodeJS.ErrnoException) => fail(`cannot be reached (${error.code ?? 'error'})`));
    request.end();
  });
}

function open(proxy: URL, options: RequestOptions): ClientRequest {
  return proxy.protocol === 'https:' ? secureRequest(options) : request(options);
}
