import { existsSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Nodes } from '../../../api/kubernetes/core.ts';
import { createClient } from '../../../runtime/kube/create-client.ts';
import { parseKubeconfig } from '../../../runtime/kube/kubeconfig.ts';
import { nodeSupport } from '../node/support.ts';
import { deleteCluster, getCluster, listClusters, putCluster } from './client.ts';
import { ClusterService } from './cluster-service.ts';

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

let service: ClusterService;
let socket: string;

beforeAll(async () => {
  service = await ClusterService.start();
  socket = service.socket;
});
afterAll(() => service.close());

async function readyNodes(kubeconfig: string): Promise<number> {
  const client = createClient(parseKubeconfig(kubeconfig, { policy: 'hub' }));
  const { items } = await client.list(Nodes);
  await client.close();
  return items.filter(({ status }) => status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True'))
    .length;
}

describe('ClusterService', () => {
  it('makes a cluster with the best worker for this machine, once, and ends it', async () => {
    const [one, again] = await Promise.all([putCluster(socket, 'east'), putCluster(socket, 'east')]);

    expect(again).toEqual(one);
    expect(one.worker).toBe(nodeSupport().supported ? 'node' : 'process-runner');
    expect(await readyNodes(one.kubeconfig)).toBe(1);
    expect(await getCluster(socket, 'east')).toEqual(one);
    expect(await putCluster(socket, 'east')).toEqual(one);
    expect(await listClusters(socket)).toEqual([{ name: 'east', state: 'ready', server: one.server }]);

    await deleteCluster(socket, 'east');

    expect(await getCluster(socket, 'east')).toBeUndefined();
    expect(await listClusters(socket)).toEqual([]);
    await expect(readyNodes(one.kubeconfig)).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await deleteCluster(socket, 'east'); // as often as one likes
  });

  it('makes a cluster with a process runner when asked to, and one that is deleted while it starts ends', async () => {
    const west = putCluster(socket, 'west', { node: false });
    const north = putCluster(socket, 'north', { node: false }).catch(() => undefined);
    await expect.poll(async () => (await listClusters(socket)).length).toBe(2);

    await deleteCluster(socket, 'north');
    const made = await west;
    await north;

    expect(made.worker).toBe('process-runner');
    expect(await readyNodes(made.kubeconfig)).toBe(1);
    expect((await listClusters(socket)).map(({ name }) => name)).toEqual(['west']);
  });

  it('lets only its user in', () => {
    expect(statSync(socket).mode & 0o077).toBe(0);
  });

  it.each([
    ['a name that is no DNS label', 'PUT', '/clusters/Not_A_Name', '{}'],
    ['a body that is not JSON', 'PUT', '/clusters/a', '{'],
    ['a body of another shape', 'PUT', '/clusters/a', '{"images":"x"}'],
    ['a method that it does not know', 'PATCH', '/clusters/a', ''],
    ['a deletion without a name', 'DELETE', '/clusters', ''],
  ])('refuses %s', async (_, method, path, body) => {
    const status = await new Promise((resolve, reject) => {
      const call = request({ socketPath: socket, method, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on('error', reject);
      call.end(body);
    });

    expect(status).toBe(400);
  });

  it('ends its clusters and removes its socket when it is closed', async () => {
    const west = await getCluster(socket, 'west');

    await service.close();

    expect(existsSync(socket)).toBe(false);
    await expect(readyNodes(west?.kubeconfig ?? '')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await expect(putCluster(socket, 'west')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });
});
