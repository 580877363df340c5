import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectThrough } from '../../../runtime/kube/proxy.ts';
import { ConnectProxy } from './connect-proxy.ts';

describe('ConnectProxy', () => {
  let server: Server;
  let proxy: ConnectProxy;

  beforeEach(async () => {
    server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy = await ConnectProxy.start({
      'hub.example:443': `127.0.0.1:${(server.address() as AddressInfo).port}`,
      'nobody.example:443': '127.0.0.1:1',
    });
  });
  afterEach(async () => {
    await proxy.close();
    server.close();
  });

  it('leads to a server that its clients cannot name', async () => {
    const socket = await connectThrough(new URL(proxy.url), 'hub.example', 443);
    socket.write('hello');
    const [data] = (await once(socket, 'data')) as [Buffer];

    expect(data.toString()).toBe('hello');
    expect(proxy.tunnels).toBe(1);
    socket.destroy();
  });

  it.each([
    ['a target that it does not know', 'elsewhere.example', 'HTTP 403'],
    ['a server that is not there', 'nobody.example', 'HTTP 502'],
  ])('refuses %s', async (_, host, status) => {
    await expect(connectThrough(new URL(proxy.url), host, 443)).rejects.toThrow(status);
    expect(proxy.asked).toEqual([`${host}:443`]);
    expect(proxy.tunnels).toBe(0);
  });

  it('ends its tunnels when it is closed', async () => {
    const socket = await connectThrough(new URL(proxy.url), 'hub.example', 443);
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');

    await proxy.close();

    await closed;
  });
});
