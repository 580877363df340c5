/**
 * Many downstream clusters in one process, for tests of what a hub does with hundreds of them: an HTTPS server whose
 * paths `/edges/NAME/…` each answer like the API server of a cluster of its own. It knows objects, names, versions,
 * server-side apply as a merge, and namespaces that go at once; no schemas, no rights, no pods. An edge can refuse to
 * answer, as one behind a dead link does.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '../../api/resource.ts';

/** How an edge behaves. */
export type EdgeMood = 'well' | 'silent';

export interface SmallEdge {
  readonly name: string;
  /** Server of its kubeconfig. */
  readonly server: string;
  mood: EdgeMood;
  /** The only token that it lets in; any when absent. */
  accepts?: string;
  /** By path below the server, such as `/api/v1/namespaces/kube-system`. */
  readonly objects: Map<string, KubeObject>;
}

export interface SmallEdges {
  /** Makes an edge, or gives the one of that name. */
  edge(name: string): SmallEdge;
  /** A kubeconfig for it, with this token. */
  kubeconfig(name: string, token?: string, ca?: string): string;
  /** Called after an object was written to an edge. */
  onWrite: (edge: SmallEdge, path: string, object: KubeObject) => void;
  close(): Promise<void>;
}

export interface SmallEdgesOptions {
  /** Certificate and key for 127.0.0.1, PEM, and the CA that vouches for it. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export async function startSmallEdges({ cert, key, ca }: SmallEdgesOptions): Promise<SmallEdges> {
  const edges = new Map<string, SmallEdge>();
  let version = 0;
  const server = createServer({ cert, key }, (request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const store = (edge: SmallEdge, path: string, object: KubeObject): KubeObject => {
    const known = edge.objects.get(path);
    const metadata = {
      ...object.metadata,
      uid: known?.metadata.uid ?? randomUUID(),
      creationTimestamp: known?.metadata.creationTimestamp ?? new Date().toISOString(),
      resourceVersion: String(++version),
    };
    const stored = { ...object, metadata };
    edge.objects.set(path, stored);
    return stored;
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', base);
    const [, name = '', path = ''] = /^\/edges\/([^/]+)(\/.*)$/.exec(url.pathname) ?? [];
    const edge = edges.get(name);
    if (edge === undefined) return send(response, 404, failure(404, 'NotFound', url.pathname));
    if (edge.mood === 'silent') return;
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    if (edge.accepts !== undefined && edge.accepts !== token)
      return send(response, 401, failure(401, 'Unauthorized', path));
    if (path === '/version') return send(response, 200, { gitVersion: 'v1.34.0', major: '1', minor: '34' });
    const body = await read(request);
    if (edge.mood !== 'well') return;
    if (url.searchParams.get('watch') === 'true') return watch(edge, path, url, response);
    switch (request.method) {
      case 'GET':
        return get(edge, path, response);
      case 'POST':
      case 'PATCH':
        return write(edge, path, body, request.method, response);
      case 'DELETE':
        return remove(edge, path, response);
      default:
        return send(response, 405, failure(405, 'MethodNotAllowed', path));
    }
  }

  /** Only what is awaited: that a namespace is gone, which it is. */
  function watch(edge: SmallEdge, path: string, url: URL, response: ServerResponse): void {
    const name = (url.searchParams.get('fieldSelector') ?? '').replace('metadata.name=', '');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (!edge.objects.has(`${path}/${name}`)) {
      const metadata = { name, resourceVersion: String(++version) };
      response.write(
        `${JSON.stringify({ type: 'DELETED', object: { kind: 'Namespace', apiVersion: 'v1', metadata } })}\n`,
      );
    }
    response.end();
  }

  function get(edge: SmallEdge, path: string, response: ServerResponse): void {
    const found = edge.objects.get(path);
    if (found !== undefined) return send(response, 200, found);
    // collections have no name at their end; nothing that a hub lists downstream is kept here
    const collection = /\/(pods|events|nodes|bundledeployments)$/.test(path);
    if (collection)
      return send(response, 200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: [] });
    send(response, 404, failure(404, 'NotFound', path));
  }

  function write(edge: SmallEdge, path: string, body: string, method: string, response: ServerResponse): void {
    const object = JSON.parse(body) as KubeObject;
    const at = method === 'POST' ? `${path}/${object.metadata.name ?? ''}` : path;
    if (method === 'POST' && edge.objects.has(at)) return send(response, 409, failure(409, 'AlreadyExists', at));
    const stored = store(edge, at, { ...edge.objects.get(at), ...object });
    send(response, method === 'POST' ? 201 : 200, stored);
    all.onWrite(edge, at, stored);
  }

  function remove(edge: SmallEdge, path: string, response: ServerResponse): void {
    if (!edge.objects.delete(path)) return send(response, 404, failure(404, 'NotFound', path));
    if (/^\/api\/v1\/namespaces\/[^/]+$/.test(path)) {
      const inside = [...edge.objects.keys()].filter((key) => key.includes(`${path.slice('/api/v1'.length)}/`));
      for (const key of inside) edge.objects.delete(key);
    }
    send(response, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
  }

  const all: SmallEdges = {
    edge(name) {
      const known = edges.get(name);
      if (known !== undefined) return known;
      const made: SmallEdge = {
        name,
        server: `${base}/edges/${name}`,
        mood: 'well',
        objects: new Map(),
      };
      edges.set(name, made);
      for (const namespace of ['kube-system', 'default']) {
        store(made, `/api/v1/namespaces/${namespace}`, {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: namespace },
        });
      }
      return made;
    },
    kubeconfig: (name, token = 'edge-admin', trusted = ca) => shortKubeconfig(all.edge(name).server, trusted, token),
    onWrite: () => undefined,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return all;
}

/** A kubeconfig in short. */
export function shortKubeconfig(server: string, ca: string, token = 'x'): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'a', user: { token } }],
  });
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function failure(code: number, reason: string, path: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: `${path}: ${reason}` };
}
