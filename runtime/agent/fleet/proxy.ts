/** HTTPS_PROXY and NO_PROXY, with the meaning that Go programs give them: agents are configured for those. */
import { BlockList, isIP } from 'node:net';

/** The proxy to reach `server` through; `undefined` for a direct connection. Lower-case variables count as well. */
export function proxyFor(server: string, env: Readonly<NodeJS.ProcessEnv>): string | undefined {
  const proxy = env['HTTPS_PROXY'] || env['https_proxy'];
  if (proxy === undefined || proxy === '') return undefined;
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || isLoopback(host)) return undefined;
  const except = (env['NO_PROXY'] || env['no_proxy'] || '').split(',').map((entry) => entry.trim().toLowerCase());
  if (except.some((entry) => entry !== '' && matches(entry, host, port || '443'))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** One entry: `*`, an address, a CIDR, a domain with its subdomains, `.domain` for those only; `:port` may follow. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const family = isIP(host);
  if (entry.includes('/')) return family !== 0 && inNetwork(entry, host);
  const [, name = entry, onlyPort] = /^([^:]+):(\d+)$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (family !== 0) return name === host;
  const suffix = name.replace(/^\*/, '');
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function inNetwork(cidr: string, host: string): boolean {
  const [network = '', bits = ''] = cidr.split('/');
  const family = isIP(network);
  if (family === 0 || family !== isIP(host) || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const list = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}

function isLoopback(host: string): boolean {
  return host === '::1' || inNetwork('127.0.0.0/8', host);
}
