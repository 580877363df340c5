import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Authority } from '../../test/harness/index.ts';
import { createClient } from './create-client.ts';
import { proxyFor } from './proxy.ts';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A CONNECT proxy that remembers what it was asked for. */
async function startProxy(status = 200): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
  });
  const port = await listen(proxy);
  return { url: `http://user:pa%20ss@127.0.0.1:${port}`, asked };
}

describe('a proxy', () => {
  it('tunnels TLS to the server, whose certificate is checked as without it', async () => {
    // given
    const authority = Authority.create('proxied');
    const pair = authority.issue({ commonName: 'api', hosts: ['api.example'], usages: ['server'] });
    const api = createSecureServer(pair, (request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ path: request.url, authorization: request.headers.authorization }));
    });
    const port = await listen(api as unknown as Server);
    const { url, asked } = await startProxy();
    const config = {
      server: `https://api.example:${port}`,
      ca: authority.cert,
      token: 't',
      proxyUrl: url,
      contextName: 'c',
    };

    // when
    const client = createClient(config);
    const answers = [await client.raw('/a'), await client.raw('/b')];

    // then: one tunnel, kept alive; the token goes to the server only
    expect(answers).toEqual(['/a', '/b'].map((path) => ({ path, authorization: 'Bearer t' })));
    expect(asked).toEqual([`api.example:${port} Basic ${Buffer.from('user:pa ss').toString('base64')}`]);
    const wrong = createClient({ ...config, tlsServerName: 'other.example' });
    await expect(wrong.raw('/a')).rejects.toMatchObject({ code: 'TLS_UNTRUSTED' });
    await Promise.all([client.close(), wrong.close()]);
  });

  it('that refuses or is not there is named, without its password', async () => {
    const { url } = await startProxy(407);
    const refused = createClient({ server: 'https://api.example', proxyUrl: url, contextName: 'c' });
    const error = await refused.raw('/').catch((failure: unknown) => failure as Error);
    expect(error).toMatchObject({ code: 'UNREACHABLE', message: 'refused the tunnel (HTTP 407)' });
    expect(JSON.stringify(error)).not.toContain('pa%20ss');
    const gone = createClient({ server: 'https://api.example', proxyUrl: 'http://127.0.0.1:1', contextName: 'c' });
    await expect(gone.raw('/')).rejects.toMatchObject({ code: 'UNREACHABLE', where: 'proxy 127.0.0.1:1' });
  });

  it.each<[string, string, NodeJS.ProcessEnv, string | undefined]>([
    ['nothing set', 'https://a.example', {}, undefined],
    [
      'HTTPS_PROXY for https',
      'https://a.example',
      { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:1' },
      'http://p:1/',
    ],
    ['HTTP_PROXY for http', 'http://a.example', { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://q:1' }, 'http://q:1/'],
    ['lower case, no scheme', 'https://a.example', { https_proxy: 'p:1' }, 'http://p:1/'],
    ['loopback', 'https://127.0.0.1:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['NO_PROXY with the host', 'https://a.example', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'x, a.example' }, undefined],
    ['NO_PROXY with a domain', 'https://a.b.example', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '.b.example' }, undefined],
    [
      'NO_PROXY with part of a name',
      'https://ab.example',
      { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'b.example' },
      'http://p:1/',
    ],
    ['NO_PROXY with a range', 'https://10.43.0.1', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8' }, undefined],
    [
      'NO_PROXY with another range',
      'https://11.43.0.1',
      { HTTPS_PROXY: 'http://p:1', NO_PROXY: '10.0.0.0/8,x/9' },
      'http://p:1/',
    ],
    ['NO_PROXY with IPv6', 'https://[fd00::1]:6443', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'fd00::/16' }, undefined],
    ['NO_PROXY with everything', 'https://a.example', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
  ])('comes from the environment: %s', (_name, server, env, expected) => {
    expect(proxyFor({ server, contextName: 'c' }, env)?.href).toBe(expected);
  });
});
