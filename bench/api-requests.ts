/** How many requests an API server has answered, from its own metrics. */
import { request } from 'node:https';
import type { ClientConfig } from '../runtime/kube/client-config.ts';

const byTheClock: ReadonlySet<string> = new Set(['', 'leases', 'endpoints', 'endpointslices']);

/**
 * Reads `apiserver_request_total`. Not counted: watches, which last and are one per client; leases and the API
 * server's own endpoints, which are renewed by the clock whether anything happens or not; and paths that are no
 * resources, such as this one.
 */
export async function countRequests(config: ClientConfig): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const line of (await metricsText(config)).split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const label = (name: string): string => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? '';
    const [verb, resource, subresource] = [label('verb'), label('resource'), label('subresource')];
    if (verb === 'WATCH' || byTheClock.has(resource)) continue;
    const key = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return counts;
}

/** What was added between two readings, most first. */
export function difference(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  const added = [...after].map(([key, count]): [string, number] => [key, count - (before.get(key) ?? 0)]);
  return new Map(added.filter(([, count]) => count > 0).toSorted((a, b) => b[1] - a[1]));
}

export function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function metricsText(config: ClientConfig): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(new URL('/metrics', config.server), {
      agent: false,
      headers: config.token === undefined ? {} : { authorization: `Bearer ${config.token}` },
      ...(config.ca === undefined ? {} : { ca: config.ca }),
      ...(config.cert === undefined ? {} : { cert: config.cert }),
      ...(config.key === undefined ? {} : { key: config.key }),
    });
    call.on('error', reject);
    call.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text);
        else
          reject(new Error(`the hub's /metrics answered ${response.statusCode}; the benchmark needs an administrator`));
      });
    });
    call.end();
  });
}
