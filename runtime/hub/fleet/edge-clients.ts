/** Clients of downstream clusters: one per kubeconfig content, closed when it was not used for a while. */
import { createHash } from 'node:crypto';
import { durations } from '../../../api/durations.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createClient } from '../../kube/create-client.ts';

export interface EdgeClients {
  get(config: ClientConfig): KubeClient;
  close(): Promise<void>;
}

interface Entry {
  readonly client: KubeClient;
  timer: NodeJS.Timeout;
}

export function createEdgeClients(userAgent: string): EdgeClients {
  const entries = new Map<string, Entry>();

  const expireLater = (key: string): NodeJS.Timeout => {
    const timer = setTimeout(() => {
      const entry = entries.get(key);
      entries.delete(key);
      void entry?.client.close().catch(() => undefined);
    }, durations.edgeClientIdle);
    timer.unref();
    return timer;
  };

  return {
    get(config) {
      const key = createHash('sha256').update(JSON.stringify(config)).digest('hex');
      const known = entries.get(key);
      if (known !== undefined) {
        clearTimeout(known.timer);
        known.timer = expireLater(key);
        return known.client;
      }
      // few connections each: thousands of clusters share this process
      const client = createClient(config, { userAgent, maxConnections: 8 });
      entries.set(key, { client, timer: expireLater(key) });
      return client;
    },
    async close() {
      const all = [...entries.values()];
      entries.clear();
      for (const { timer } of all) clearTimeout(timer);
      await Promise.all(all.map(({ client }) => client.close()));
    },
  };
}
