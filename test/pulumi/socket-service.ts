/** The cluster service of examples/local-cluster, answering with clusters that a test has started already. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What a cluster is known by. */
export interface ServedCluster {
  readonly kubeconfig: string;
  readonly server: string;
}

/** Runs until it is closed. */
export class SocketService {
  readonly socket: string;
  /** Clusters that the service can make, by name; change them to rotate a kubeconfig. */
  readonly clusters: Record<string, ServedCluster>;
  /** Names of those that were made and not deleted. */
  readonly made = new Set<string>();
  readonly #server: Server;

  private constructor(socket: string, clusters: Record<string, ServedCluster>) {
    this.socket = socket;
    this.clusters = clusters;
    this.#server = createServer((request, response) => {
      const name = request.url?.split('/').pop() ?? '';
      const cluster = this.clusters[name];
      if (cluster === undefined || (request.method === 'GET' && !this.made.has(name))) {
        response.writeHead(404).end();
        return;
      }
      if (request.method === 'PUT') this.made.add(name);
      if (request.method === 'DELETE') this.made.delete(name);
      response.writeHead(request.method === 'DELETE' ? 204 : 200, { 'content-type': 'application/json' });
      response.end(request.method === 'DELETE' ? undefined : JSON.stringify(cluster));
    });
  }

  static async start(clusters: Record<string, ServedCluster>): Promise<SocketService> {
    const service = new SocketService(join(await mkdtemp(join(tmpdir(), 'muster-clusters-')), 'socket'), clusters);
    await new Promise<void>((resolve) => service.#server.listen(service.socket, resolve));
    return service;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(dirname(this.socket), { recursive: true, force: true });
  }
}
