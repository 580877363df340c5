/** Calls of the cluster service. */
import { request } from 'node:http';
import { MusterError } from '../../../api/errors.ts';
import type { ClusterAnswer, ClusterLine, ClusterSpec, ServiceError } from './protocol.ts';

/** Makes the cluster unless it is there, and waits until it is Ready. */
export async function putCluster(socket: string, name: string, spec: ClusterSpec = {}): Promise<ClusterAnswer> {
  return (await call(socket, 'PUT', `/clusters/${name}`, spec)) as ClusterAnswer;
}

/** The cluster once it is Ready; undefined when there is none of that name. */
export async function getCluster(socket: string, name: string): Promise<ClusterAnswer | undefined> {
  return (await call(socket, 'GET', `/clusters/${name}`)) as ClusterAnswer | undefined;
}

/** Ends the cluster, if there is one, and waits until it is gone. */
export async function deleteCluster(socket: string, name: string): Promise<void> {
  await call(socket, 'DELETE', `/clusters/${name}`);
}

export async function listClusters(socket: string): Promise<ClusterLine[]> {
  return (await call(socket, 'GET', '/clusters')) as ClusterLine[];
}

function call(socketPath: string, method: string, path: string, body?: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request({ socketPath, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const status = response.statusCode ?? 0;
        if (status === 404 || status === 204) return resolve(undefined);
        const answer = JSON.parse(text) as unknown;
        if (status < 300) return resolve(answer);
        const { error } = answer as ServiceError;
        reject(new MusterError('INTERNAL', `${method} ${path}: ${error.message}`, { where: socketPath }));
      });
    });
    sent.on('error', (cause) => {
      const message = 'the cluster service does not answer';
      reject(new MusterError('UNREACHABLE', message, { where: socketPath, hint: 'Start it.', cause }));
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
