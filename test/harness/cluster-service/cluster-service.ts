/**
 * Makes and ends named clusters for callers in other processes, over a Unix socket. A Pulumi program cannot own the
 * clusters that it provisions, since its process ends after every operation: the process that runs this service does
 * (`npm start`), and they end with it.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMusterError, MusterError } from '../../../api/errors.ts';
import { startLocalCluster } from '../local-cluster.ts';
import type { LocalCluster, LocalClusterOptions } from '../local-cluster.ts';
import { Node } from '../node/node.ts';
import { currentRun } from '../run/run.ts';
import type { ClusterAnswer, ClusterLine, ClusterSpec, ServiceError } from './protocol.ts';

/** Options of {@link ClusterService.start}: what clusters are made with unless a request says otherwise. */
export interface ClusterServiceOptions extends Omit<LocalClusterOptions, 'name'> {
  /** Default: a file in the run's folder. A path of more than about 100 characters is refused by the system. */
  readonly socket?: string;
  /** What a cluster of this name is made with, beside the rest. */
  readonly optionsOf?: (name: string) => Partial<LocalClusterOptions>;
  /** Called before a cluster is ended while the service goes on; a failure is the answer to whoever ends it. */
  readonly beforeEnd?: (cluster: LocalCluster) => Promise<void>;
}

/** A cluster from the first request for it to its end. */
interface Entry {
  state: ClusterLine['state'];
  readonly cluster: Promise<LocalCluster>;
  /** Set once it is being ended. */
  ended?: Promise<void>;
}

/** As for the name of a Namespace. */
const namePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The service. */
export class ClusterService {
  /** The Unix socket it listens on; only its user may connect. */
  readonly socket: string;
  #options: ClusterServiceOptions;
  #server: Server;
  #entries = new Map<string, Entry>();

  static async start(options: ClusterServiceOptions = {}): Promise<ClusterService> {
    const run = await currentRun();
    const socket = options.socket ?? join(run.makeDir('service'), 's');
    const service = new ClusterService(socket, options);
    if (options.socket !== undefined) run.register('file', [socket]);
    await new Promise<void>((resolve, reject) => {
      service.#server.once('error', reject);
      service.#server.listen(socket, resolve);
    });
    chmodSync(socket, 0o600);
    return service;
  }

  private constructor(socket: string, options: ClusterServiceOptions) {
    this.socket = socket;
    this.#options = options;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** A cluster that was made, for the process that runs the service; undefined when there is none. */
  async cluster(name: string): Promise<LocalCluster | undefined> {
    return await this.#entries.get(name)?.cluster;
  }

  /** Makes the cluster unless it is there. Two calls for one name make one cluster. */
  async put(name: string, spec: ClusterSpec = {}): Promise<LocalCluster> {
    if (!namePattern.test(name)) {
      throw new MusterError('INVALID_ARGUMENT', 'not a DNS label', { where: `cluster ${name}` });
    }
    await this.#entries.get(name)?.ended; // one of the same name that is just going
    const known = this.#entries.get(name);
    if (known !== undefined) return await known.cluster;
    const { socket: _socket, optionsOf, beforeEnd: _beforeEnd, ...defaults } = this.#options;
    const options = { ...defaults, ...optionsOf?.(name), ...spec, name };
    const entry: Entry = { state: 'starting', cluster: startLocalCluster(options) };
    this.#entries.set(name, entry);
    try {
      const cluster = await entry.cluster;
      if (entry.state === 'starting') entry.state = 'ready';
      return cluster;
    } catch (error) {
      if (this.#entries.get(name) === entry) this.#entries.delete(name); // the next request tries again
      throw error;
    }
  }

  /** Ends the cluster, if there is one. */
  async delete(name: string): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.state = 'stopping';
    entry.ended ??= entry.cluster
      .then(
        (cluster) => cluster.close(),
        () => undefined, // it never came up: told to whoever asked for it
      )
      .finally(() => this.#entries.delete(name));
    await entry.ended;
  }

  async list(): Promise<ClusterLine[]> {
    const lines = [...this.#entries].map(async ([name, { state, cluster }]): Promise<ClusterLine> => {
      return state === 'ready' ? { name, state, server: (await cluster).plane.server } : { name, state };
    });
    return await Promise.all(lines);
  }

  /** Ends every cluster and the service. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await Promise.all([...this.#entries.keys()].map((name) => this.delete(name)));
    rmSync(this.socket, { force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body?: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    try {
      const text = await readBody(request);
      const route = /^\/clusters(?:\/([^/]+))?$/.exec(request.url ?? '');
      if (route === null) return send(404, failure('NOT_FOUND', 'no such path'));
      const name = route[1];
      const result = await this.#handle(request.method ?? '', name, text);
      if (result === undefined) send(name !== undefined && request.method === 'GET' ? 404 : 204);
      else send(200, result);
    } catch (error) {
      const isInput = isMusterError(error, 'INVALID_ARGUMENT') || error instanceof SyntaxError;
      const code = isMusterError(error) ? error.code : isInput ? 'INVALID_ARGUMENT' : 'INTERNAL';
      const hint = isMusterError(error) ? error.hint : undefined;
      send(isInput ? 400 : 500, failure(code, error instanceof Error ? error.message : String(error), hint));
    }
  }

  async #handle(method: string, name: string | undefined, text: string): Promise<unknown> {
    if (method === 'GET' && name === undefined) return await this.list();
    if (name === undefined) throw new MusterError('INVALID_ARGUMENT', `${method} needs the name of a cluster`);
    switch (method) {
      case 'PUT':
        return answerOf(await this.put(name, specOf(text)));
      case 'GET': {
        const entry = this.#entries.get(name);
        return entry === undefined || entry.state === 'stopping' ? undefined : answerOf(await entry.cluster);
      }
      case 'DELETE': {
        const cluster = await this.cluster(name).catch(() => undefined); // it never came up: told to whoever asked for it
        if (cluster !== undefined) await this.#options.beforeEnd?.(cluster);
        return await this.delete(name);
      }
      default:
        throw new MusterError('INVALID_ARGUMENT', `method ${method} is not supported`);
    }
  }
}

function answerOf({ name, plane, worker, address }: LocalCluster): ClusterAnswer {
  const { kubeconfig, server } = plane;
  return { name, kubeconfig, server, worker: worker instanceof Node ? 'node' : 'process-runner', address };
}

function specOf(text: string): ClusterSpec {
  const body: unknown = text === '' ? {} : JSON.parse(text);
  const { node, images } = (typeof body === 'object' && body !== null ? body : {}) as ClusterSpec;
  const isList = images === undefined || (Array.isArray(images) && images.every((path) => typeof path === 'string'));
  if ((node !== undefined && typeof node !== 'boolean') || !isList) {
    throw new MusterError('INVALID_ARGUMENT', 'the body is {"node"?: boolean, "images"?: string[]}');
  }
  return { ...(node === undefined ? {} : { node }), ...(images === undefined ? {} : { images }) };
}

function failure(code: string, message: string, hint?: string): ServiceError {
  return { error: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
