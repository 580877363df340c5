import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relay } from './relay.ts';

describe('relay', () => {
  let dir: string;
  const servers: Server[] = [];

  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'muster-relay-'))));
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
    rmSync(dir, { recursive: true });
  });

  async function listen(at: ListenOptions, onSocket: (socket: Socket) => void): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, onSocket).listen(at);
    servers.push(server);
    await once(server, 'listening');
    return server;
  }

  const tcp = { host: '127.0.0.1', port: 0 };
  const unix = () => ({ path: join(dir, 'near.sock') });

  it.each([
    ['TCP', tcp],
    ['a Unix socket, which knows none,', unix],
  ])('passes a reset by the far end on to a caller on %s', async (_, at) => {
    const target = await listen(tcp, (socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { port } = target.address() as AddressInfo;
    const front = await listen(typeof at === 'function' ? at() : at, (near) =>
      relay(near, connect({ port, allowHalfOpen: true })),
    );
    const address = front.address();
    const caller = connect(typeof address === 'string' ? { path: address } : { port: address?.port ?? 0 });
    let failure: NodeJS.ErrnoException | undefined;
    caller.on('error', (error) => (failure = error));
    const closed = new Promise((resolve) => caller.once('close', resolve));

    caller.write('hello');

    await closed;
    expect(failure?.code).toBe(typeof at === 'function' ? undefined : 'ECONNRESET');
  });

  it('lets one side end while the other still speaks', async () => {
    const target = await listen(tcp, (socket) => {
      socket.resume();
      socket.once('end', () => socket.end('the answer'));
    });
    const { port } = target.address() as AddressInfo;
    const front = await listen(tcp, (near) => relay(near, connect({ port, allowHalfOpen: true })));
    const caller = connect({ port: (front.address() as AddressInfo).port, allowHalfOpen: true });
    let heard = '';
    caller.on('data', (data: Buffer) => (heard += data.toString()));

    caller.end('the question');
    await once(caller, 'end');

    expect(heard).toBe('the answer');
  });
});
