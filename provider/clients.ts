/** One client per cluster and process: its connections, rate limit and identity are shared by every resource. */
import { createHash } from 'node:crypto';
import { Namespaces } from '../api/kubernetes/core.ts';
import { defaults } from '../api/fleet/constants.ts';
import { isForbidden, isNotFound } from '../runtime/kube/api-error.ts';
import type { CallOptions, KubeClient } from '../runtime/kube/client.ts';
import { createClient } from '../runtime/kube/create-client.ts';
import { parseKubeconfig } from '../runtime/kube/kubeconfig.ts';
import type { Connection } from './configuration.ts';
import { kubeconfigText } from './configuration.ts';

/** Requests per second and at once, per cluster: `pulumi up` of hundreds of resources must not starve its hub. */
const rateLimit = { qps: 50, burst: 100 } as const;

/** A cluster that a handler talks to. */
export interface Target {
  readonly client: KubeClient;
  /**
   * UID of its namespace kube-system: what makes two kubeconfigs mean the same cluster. Undefined when the credential
   * may not read it. Asked for once per process.
   */
  uid(options?: CallOptions): Promise<string | undefined>;
}

/** The pool. */
export class Clients {
  readonly #targets = new Map<string, Target>();

  /**
   * The client for a connection of the user's own: exec plugins and files are allowed.
   * @throws MusterError INVALID_KUBECONFIG.
   */
  get(connection: Connection): Target {
    const key = createHash('sha256')
      .update(JSON.stringify([connection.kubeconfig, connection.context]))
      .digest('hex');
    const known = this.#targets.get(key);
    if (known !== undefined) return known;
    const config = parseKubeconfig(kubeconfigText(connection.kubeconfig), {
      policy: 'user',
      ...(connection.context === undefined ? {} : { context: connection.context }),
    });
    const target = createTarget(createClient(config, { userAgent: 'pulumi-muster', ...rateLimit }));
    this.#targets.set(key, target);
    return target;
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#targets.values()].map(({ client }) => client.close()));
    this.#targets.clear();
  }
}

function createTarget(client: KubeClient): Target {
  let uid: string | undefined;
  return {
    client,
    async uid(options) {
      uid ??= await readUid(client, options);
      return uid;
    },
  };
}

async function readUid(client: KubeClient, options?: CallOptions): Promise<string | undefined> {
  try {
    return (await client.get(Namespaces, { name: defaults.clientIdNamespace }, options)).metadata.uid;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
