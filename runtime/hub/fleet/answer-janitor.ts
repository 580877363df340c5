/** Answers to requests: deleted when the agent has stored its credential, and at the latest after a while. */
import { durations } from '../../../api/durations.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { secretTypes } from '../../../api/fleet/constants.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { clusterOf, indexes, needs } from './caches.ts';
import { lastSeenMs } from './cluster-liveness.ts';
import type { HubContext } from './context.ts';
import { deleteSame } from './delete-same.ts';
import { answerName } from './registration-grant.ts';

export function createAnswerJanitor(context: HubContext): Controller {
  const { credentials, clusters } = context.caches;
  const controller = createController({
    name: 'answers',
    concurrency: 2,
    async reconcile(key, { signal }) {
      const secret = credentials.get(key);
      if (secret === undefined || secret.type !== secretTypes.agentCredential) return;
      const leftMs = answerEnds(secret, context.observed.get(clusterOf(secret) ?? '')) - Date.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      await context.readers.revoke(new Set([secret.metadata.name ?? '']));
      await deleteSame(context.client, Secrets, secret, signal);
    },
  });
  needs(controller, context.caches.readerRoles, context.caches.bindings);
  controller.watch(credentials, { predicate: ({ type }) => type === 'added' });
  controller.watch(clusters, {
    predicate: ({ type, object, previous }) =>
      type === 'updated' && previous !== undefined && lastSeenMs(previous) !== lastSeenMs(object),
    map: ({ object }) => credentials.byIndex(indexes.cluster, keyOf(object)).map(keyOf),
  });
  return controller;
}

/** When an answer has to go: some time after a heartbeat that came later than it, else at the end of its life. */
export function answerEnds(secret: Secret, heardMs: number | undefined): number {
  const madeMs = Date.parse(secret.metadata.creationTimestamp ?? '');
  const used = heardMs !== undefined && heardMs >= madeMs;
  return madeMs + (used ? durations.registrationSecretUsed : durations.registrationSecretLifetime);
}

/** Names in reader Roles that answer nothing any more: left by a hub that ended in between. Call when caches are synced. */
export async function pruneReaders(context: HubContext, signal: AbortSignal): Promise<void> {
  const { credentials, requests } = context.caches;
  const pending = new Set(
    requests
      .list()
      .filter(({ status }) => status?.granted !== true)
      .map(answerName),
  );
  const stale = [...context.readers.listed()].filter(
    (name) => !pending.has(name) && credentials.get(`${context.registrationNamespace}/${name}`) === undefined,
  );
  if (stale.length > 0) await context.readers.revoke(new Set(stale));
  await forgetTokens(context, signal);
}

/** Roles of tokens that went while no hub was there; asked live, as a reader that is taken away does not come back. */
async function forgetTokens(context: HubContext, signal: AbortSignal): Promise<void> {
  for (const key of context.readers.accounts()) {
    if (context.serviceAccounts.get(key) !== undefined) continue;
    const { namespace = '', name } = parseKey(key);
    const account = { namespace, name };
    if ((await context.client.find(ServiceAccounts, account, { signal })) === undefined) {
      await context.readers.forget(account, signal);
    }
  }
}
