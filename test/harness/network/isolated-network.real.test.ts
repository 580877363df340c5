import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { poll } from '../poll.ts';
import { startOf } from '../run/process-identity.ts';
import { IsolatedNetwork } from './isolated-network.ts';
import { devices, insideAddress, nodeAddress, outsideAddress } from './layout.ts';
import { isolationSupport } from './support.ts';

const Endpoints: ResourceType<KubeObject & { subsets?: { addresses: { ip: string }[] }[] }> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  namespaced: true,
};

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

/** What of the machine looks like a trace of such a network; other programs change the rest as they like. */
const machine = () => {
  const env = { PATH: '/usr/sbin:/sbin:/usr/bin:/bin' };
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8', env });
  const files = ['/proc/self/mountinfo', '/proc/net/dev'].map((file) => readFileSync(file, 'utf8'));
  const lines = [...files, run('ip', '-4', 'route'), run('iptables-save')].join('\n').split('\n');
  const ours = new RegExp(`\\b(cni0|netns|${Object.values(devices).join('|')}|198\\.18|10\\.88)\\b`);
  const forwarding = readFileSync('/proc/sys/net/ipv4/ip_forward', 'utf8');
  return { forwarding, traces: lines.filter((line) => ours.test(line)).map((line) => line.replace(/:.*/, '')) };
};

// Without root, Linux or namespaces there is nothing to test: it is the network itself that is tested.
describe.runIf(isolationSupport().supported)('an isolated network', () => {
  let echo: Server;
  let network: IsolatedNetwork;
  let plane: ControlPlane;
  let before: ReturnType<typeof machine>;

  beforeAll(async () => {
    before = machine();
    echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    network = await IsolatedNetwork.start({ reach: { 7: `127.0.0.1:${(echo.address() as AddressInfo).port}` } });
    plane = await ControlPlane.start({ name: 'isolated', network, controllerManager: false });
  });
  afterAll(async () => {
    await plane?.close();
    await network?.close();
    echo?.close();
  });

  const reach = async (from: 'inside' | 'outside', host: string, port: number): Promise<boolean> => {
    const socket = await network[from].dial({ host, port }, 1_000);
    socket?.destroy();
    return socket !== undefined;
  };

  it('gives the test a control plane as any other', async () => {
    const client = plane.client();

    expect(await client.find(Namespaces, { name: 'default' })).toBeDefined();
    // an API server that is ready may still have to write where it is
    const { items } = await poll(
      async () => {
        const found = await client.list(Endpoints, { namespace: 'default' });
        return found.items.length > 0 ? found : undefined;
      },
      { what: 'the address of the API server' },
    );
    const addresses = items[0]?.subsets?.[0]?.addresses;
    expect(addresses).toEqual([{ ip: nodeAddress }]);
    await client.close();
  });

  it('lets the cluster reach what is named, and nothing else', async () => {
    expect(await reach('inside', outsideAddress, 7)).toBe(true);
    expect(await reach('inside', outsideAddress, 8)).toBe(false);
    expect(await reach('inside', '127.0.0.1', (echo.address() as AddressInfo).port)).toBe(false);
  });

  it('lets nobody reach the cluster, and it is the firewall that does not', async () => {
    const addresses = [insideAddress, nodeAddress];
    for (const address of addresses) {
      expect(await reach('inside', address, plane.port)).toBe(true); // it does listen there
      expect(await reach('outside', address, plane.port)).toBe(false);
    }

    const rule = `PREROUTING -i ${devices.inside} -m conntrack --ctstate NEW -j DROP`;
    await network.inside.run(`iptables -w -t mangle -D ${rule}`);
    for (const address of addresses) expect(await reach('outside', address, plane.port)).toBe(true);

    await network.inside.run(`iptables -w -t mangle -A ${rule}`);
    for (const address of addresses) expect(await reach('outside', address, plane.port)).toBe(false);
  });

  it('swallows packets while it is cut, and open connections live on when it heals', async () => {
    const socket = await network.inside.dial({ host: outsideAddress, port: 7 });
    let heard = '';
    socket?.on('data', (data: Buffer) => (heard += data.toString()));
    socket?.write('before ');
    await expect.poll(() => heard).toBe('before ');

    await network.cut();
    socket?.write('after');
    expect(await reach('inside', outsideAddress, 7)).toBe(false);
    expect(heard).toBe('before ');

    await network.heal();
    await expect.poll(() => heard, { timeout: 60_000 }).toBe('before after');
    expect(await reach('inside', outsideAddress, 7)).toBe(true);
    socket?.destroy();
  });

  it('is one of several, each with the same addresses', async () => {
    await using other = await IsolatedNetwork.start({ reach: {} });

    const socket = await other.inside.dial({ host: outsideAddress, port: 7 }, 1_000);
    expect(socket).toBeUndefined();
    expect(await reach('inside', outsideAddress, 7)).toBe(true);
  });

  it('leaves the machine as it was, and no process when it is closed', async () => {
    expect(machine()).toEqual(before);

    const short = await IsolatedNetwork.start({ reach: {} });
    const pids = [short.inside.pid, short.outside.pid];
    expect(pids.every((pid) => startOf(pid) !== undefined)).toBe(true);
    await short.close();

    expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(machine()).toEqual(before);
  });
});
