/**
 * Secrets of the workspaces, and of namespaces of sources: kubeconfigs and values of tokens. The hub may read Secrets
 * only in namespaces that are bound to it, so there is one cache for each, started when an administrator opens it.
 */
import { durations } from '../../../api/durations.ts';
import type { Namespace, Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { Cache, CacheEvent } from '../../kube/cache.ts';
import { createCache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Logger } from '../../kube/logger.ts';
import type { Runnable } from '../../kube/manager.ts';
import { untilAborted } from '../../kube/until-aborted.ts';
import { withoutData } from './caches.ts';

export interface WorkspaceSecrets extends Runnable {
  /** Without data. `undefined` also while the namespace is not open to the hub. */
  get(key: string): Secret | undefined;
  /** Those of one namespace, or of all that are open. Without data. */
  list(namespace?: string): Secret[];
  /** Whether the Secrets of this namespace are known. */
  isOpen(namespace: string): boolean;
  /** As `isOpen`, but waits for the first list of a namespace that is just being opened (at the hub's start). */
  whenOpen(namespace: string, signal: AbortSignal): Promise<boolean>;
  remember(secret: Secret): void;
  subscribe(handler: (event: CacheEvent<Secret>) => void): void;
}

interface Open {
  readonly cache: Cache<Secret>;
  readonly controller: AbortController;
  readonly running: Promise<void>;
}

/**
 * `opened` are the namespaces that administrators opened, by one label or another; `extra` are open without a label (the
 * system namespace).
 */
export function createWorkspaceSecrets(
  client: KubeClient,
  opened: readonly Cache<Namespace>[],
  extra: readonly string[],
  logger: Logger,
): WorkspaceSecrets {
  const open = new Map<string, Open>();
  const written = new Map<string, Secret>();
  const handlers: ((event: CacheEvent<Secret>) => void)[] = [];
  const version = (secret: Secret | undefined): number => Number(secret?.metadata.resourceVersion ?? 0);

  function start(namespace: string): void {
    if (open.has(namespace)) return;
    const cache = createCache(client, Secrets, { namespace, transform: withoutData, logger });
    cache.subscribe((event) => {
      const key = `${namespace}/${event.object.metadata.name ?? ''}`;
      if (event.type === 'deleted' || version(event.object) >= version(written.get(key))) written.delete(key);
      for (const handler of handlers) handler(event);
    });
    const controller = new AbortController();
    open.set(namespace, { cache, controller, running: cache.start(controller.signal) });
  }

  async function stop(namespace: string): Promise<void> {
    const entry = open.get(namespace);
    open.delete(namespace);
    entry?.controller.abort();
    await entry?.running;
  }

  return {
    name: 'workspace-secrets',
    needsLeader: false,
    get(key) {
      const cached = open.get(key.slice(0, key.indexOf('/')))?.cache.get(key);
      const mine = written.get(key);
      return version(mine) > version(cached) ? mine : cached;
    },
    list(namespace) {
      const caches = namespace === undefined ? [...open.values()] : [open.get(namespace)];
      return caches.flatMap((entry) => entry?.cache.list() ?? []);
    },
    isOpen: (namespace) => open.get(namespace)?.cache.synced === true,
    async whenOpen(namespace, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(durations.workspaceOpen)]);
      // at the hub's start nobody knows yet which namespaces are open
      if (!open.has(namespace)) await Promise.all(opened.map((one) => one.whenSynced(limit))).catch(() => undefined);
      const cache = open.get(namespace)?.cache;
      if (cache === undefined || cache.synced) return cache !== undefined;
      await cache.whenSynced(limit).catch(() => undefined);
      return cache.synced;
    },
    remember(secret) {
      const key = `${secret.metadata.namespace ?? ''}/${secret.metadata.name ?? ''}`;
      written.set(key, withoutData(secret));
    },
    subscribe(handler) {
      handlers.push(handler);
    },
    async run(signal) {
      extra.forEach(start);
      const subscriptions = opened.map((namespaces) =>
        namespaces.subscribe(({ object }) => {
          const name = object.metadata.name ?? '';
          if (extra.includes(name)) return;
          // one label may go while another still opens it
          if (opened.some((one) => one.get(name) !== undefined)) start(name);
          else void stop(name);
        }),
      );
      await untilAborted(signal);
      for (const unsubscribe of subscriptions) unsubscribe();
      await Promise.all([...open.keys()].map(stop));
    },
  };
}
