import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigMaps } from '../../api/kubernetes/core.ts';
import { isApiError, isExpired } from './api-error.ts';
import { createCache } from './cache.ts';
import type { KubeClient, WatchEvent } from './client.ts';
import type { ClientOptions } from './create-client.ts';
import { createClient } from './create-client.ts';
import { retryAfterMs } from './response.ts';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serving(listener: RequestListener, options?: ClientOptions): Promise<KubeClient> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = createClient({ server: `http://127.0.0.1:${port}`, token: 'sesame', contextName: 'c' }, options);
  cleanups.push(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return client;
}

const answering = (status: number, type: string, body: string): Promise<KubeClient> =>
  serving((_request, response) => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  });

async function failureOf(client: KubeClient): Promise<Error> {
  const error = await client.list(ConfigMaps).then(
    () => new Error('it succeeded'),
    (failure: unknown) => failure as Error,
  );
  expect(`${String(error)} ${JSON.stringify(error)} ${error.stack ?? ''}`).not.toContain('sesame');
  return error;
}

describe('a call', () => {
  it('that is urgent does not wait behind others for a connection', async () => {
    const held: (() => void)[] = [];
    const arrived: string[] = [];
    const client = await serving(
      (request, response) => {
        const path = request.url ?? '';
        arrived.push(path);
        const answer = (): void => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end('{}');
        };
        if (path === '/urgent') answer();
        else held.push(answer);
      },
      { maxConnections: 1 },
    );
    const slow = [client.raw('/one'), client.raw('/two')];
    await client.raw('/urgent', { urgent: true });
    expect(arrived).not.toContain('/two');
    while (arrived.length < 3) {
      held.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    held.shift()?.();
    await Promise.all(slow);
  });
});

describe('an answer', () => {
  it.each([
    ['a web page', 200, 'text/html', '<html>log in</html>', 'NOT_KUBERNETES'],
    ['a web page of a refusal', 403, 'text/html; charset=utf-8', '<html>no</html>', 'NOT_KUBERNETES'],
    ['a redirect', 302, 'text/plain', 'elsewhere', 'NOT_KUBERNETES'],
    ['broken JSON', 200, 'application/json', '{"items": [', 'NOT_KUBERNETES'],
    ['nothing', 200, 'application/json', '', 'NOT_KUBERNETES'],
    ["a load balancer's page", 504, 'text/html', '<html>gateway timeout</html>', 'UNREACHABLE'],
  ])('that is %s is no API', async (_name, status, type, body, code) => {
    expect(await failureOf(await answering(status, type, body))).toMatchObject({ code });
  });

  it('that refuses in plain text is an ApiError with that text, cut', async () => {
    const error = await failureOf(await answering(404, 'text/plain', `404 page not found ${'x'.repeat(500)}`));
    expect(isApiError(error, 404)).toBe(true);
    expect(error.message).toMatch(/^GET \/api\/v1\/configmaps: 404 page not found x+$/);
    expect(error.message.length).toBeLessThan(250);
  });

  it('may be plain text where no JSON is promised', async () => {
    expect(await (await answering(200, 'text/plain', 'ok')).raw('/healthz')).toBe('ok');
  });

  it('may be compressed for a client that asks for it', async () => {
    const client = await serving(
      (request, response) => {
        expect(request.headers['accept-encoding']).toBe('gzip');
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync('{"items":[],"metadata":{"resourceVersion":"7"}}'));
      },
      { gzip: true },
    );
    expect((await client.list(ConfigMaps)).resourceVersion).toBe('7');
  });

  it('says how long to wait, in seconds or as a date', () => {
    expect(retryAfterMs({ 'retry-after': '3' })).toBe(3000);
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, () => now)).toBe(5000);
    expect(retryAfterMs({ 'retry-after': 'soon' })).toBeUndefined();
    expect(retryAfterMs({})).toBeUndefined();
  });

  it('that is not HTTP is no API', async () => {
    const server = createTcpServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('SSH-2.0-OpenSSH\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const client = createClient({ server: `http://127.0.0.1:${port}`, contextName: 'c' });
    expect(await failureOf(client)).toMatchObject({ code: 'NOT_KUBERNETES', message: 'does not speak HTTP' });
    const secure = createClient({ server: `https://127.0.0.1:${port}`, contextName: 'c' });
    expect(await failureOf(secure)).toMatchObject({ code: 'NOT_KUBERNETES', message: 'does not speak TLS' });
  });
});

describe('no answer', () => {
  it('is explained: refused connection, unknown name', async () => {
    const refused = createClient({ server: 'https://127.0.0.1:1', contextName: 'c' });
    expect(await failureOf(refused)).toMatchObject({ code: 'UNREACHABLE', message: 'refuses connections' });
    const unknown = createClient({ server: 'https://nowhere.invalid', contextName: 'c' });
    expect(await failureOf(unknown)).toMatchObject({ code: 'UNREACHABLE', where: 'https://nowhere.invalid' });
  });
});

const line = (type: string, name: string, version: string): string =>
  `${JSON.stringify({ type, object: { metadata: { name, namespace: 'n', uid: name, resourceVersion: version } } })}\n`;

/** A server whose watches send these chunks, one watch after the other, and whose lists are empty. */
async function watched(...bodies: string[][]): Promise<KubeClient> {
  let watches = 0;
  return await serving((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (!request.url?.includes('watch=true')) {
      response.end('{"metadata":{"resourceVersion":"1"},"items":[]}');
      return;
    }
    const chunks = bodies[watches] ?? [];
    watches += 1;
    for (const chunk of chunks) response.write(chunk);
    if (watches <= bodies.length) response.end();
  });
}

async function read(client: KubeClient): Promise<{ events: WatchEvent<object & never>[]; error: unknown }> {
  const events: WatchEvent<never>[] = [];
  try {
    for await (const event of client.watch(ConfigMaps, { resourceVersion: '1' }))
      events.push(event as WatchEvent<never>);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

describe('a watch', () => {
  it('puts lines together however they are cut, also in the middle of a character', async () => {
    const whole = Buffer.from(line('ADDED', 'ä'.repeat(10), '2') + line('DELETED', 'b', '3'));
    const client = await serving((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      let at = 0;
      const next = (): void => {
        if (at >= whole.length) return void response.end();
        response.write(whole.subarray(at, at + 7), next);
        at += 7;
      };
      next();
    });
    const { events, error } = await read(client);
    expect(error).toBeUndefined();
    expect(events).toMatchObject([
      { type: 'ADDED', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'ä'.repeat(10) } } },
      { type: 'DELETED' },
    ]);
  });

  it('drops an event that the end of the stream cuts off', async () => {
    const { events, error } = await read(await watched([line('ADDED', 'a', '2'), '{"type":"ADDED","object"']));
    expect([events.length, error]).toEqual([1, undefined]);
  });

  it('says when an event is not JSON, has no object, or is of an unknown type', async () => {
    for (const bad of ['not json\n', '{"type":"ADDED"}\n', line('SURPRISE', 'a', '2')]) {
      const { error } = await read(await watched([bad]));
      expect(error).toMatchObject({ code: 'NOT_KUBERNETES' });
    }
  });

  it('turns an ERROR event into the ApiError that it is', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (9)' };
    const { error } = await read(await watched([`${JSON.stringify({ type: 'ERROR', object: status })}\n`]));
    expect(isExpired(error)).toBe(true);
  });

  it('feeds a cache that lists again after an ERROR 410 and after an event that cannot be read', async () => {
    const gone = `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410 } })}\n`;
    const client = await watched([line('ADDED', 'a', '2'), gone], [line('ADDED', 'b', '3'), 'garbage\n'], []);
    const cache = createCache(client, ConfigMaps);
    const events: string[] = [];
    const stop = new AbortController();
    cache.subscribe(({ type, object }) => {
      events.push(`${type} ${object.metadata.name}`);
      if (events.length === 4) stop.abort(new Error('seen enough'));
    });
    await cache.start(stop.signal);
    expect(events).toEqual(['added a', 'deleted a', 'added b', 'deleted b']);
  });
});
