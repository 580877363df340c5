/**
 * A program that keeps a network namespace alive and carries connections into and out of it: network belongs to the
 * process that opens a socket, files do not, so Unix sockets lead from one namespace to another.
 *
 * Arguments: a socket that takes HTTP CONNECT for connections made in here; then `PORT=SOCKET` for each port of this
 * namespace that leads to a socket somebody else listens on.
 */
import { connect, createServer } from 'node:net';
import { createConnectServer, endpointOf } from './connect.ts';
import { relay } from './relay.ts';

const [entry, ...exits] = process.argv.slice(2);
if (entry === undefined) throw new Error('usage: gateway.ts SOCKET [PORT=SOCKET…]');

for (const exit of exits) {
  const [port, path = ''] = exit.split('=');
  const server = createServer({ allowHalfOpen: true }, (near) => {
    relay(near, connect({ path, allowHalfOpen: true }));
  });
  await new Promise<void>((resolve) => server.listen(Number(port), '0.0.0.0', resolve));
}
// Last: whoever can connect to it knows that the rest is there.
createConnectServer({ route: endpointOf }).listen(entry);
