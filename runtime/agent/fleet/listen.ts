/**
 * The agent's one watch on the hub: its own account there. It is how the hub says "ask now": that its address changed, or
 * that the registration is over. Without it (an original hub gives no such right) the next heartbeat learns the same.
 */
import { annotations } from '../../../api/fleet/constants.ts';
import { durations } from '../../../api/durations.ts';
import { ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { isApiError, isForbidden } from '../../kube/api-error.ts';
import { pause } from '../../kube/backoff.ts';
import type { Link } from './connection.ts';
import type { AgentContext } from './context.ts';
import { readClaims, serviceAccountOf } from '../../kube/token-claims.ts';

/** Wakes `context` for each news until `signal` aborts. A hub that does not let it listen is asked once an hour. Never rejects. */
export async function listen(context: AgentContext, link: Link, signal: AbortSignal): Promise<void> {
  const account = serviceAccountOf(readClaims(link.credential.config.token ?? ''));
  if (account === undefined) return;
  let refused = 0;
  while (!signal.aborted) {
    try {
      await follow(context, link, account, signal);
      refused = 0;
      // The server ends watches after minutes; all of a fleet began at about the same time when it last started.
      await pause(Math.random() * durations.watchRetryLast, signal);
    } catch (error) {
      if (signal.aborted || isApiError(error, 404)) return;
      // An API server refuses until it knows a new account and its rights, and all of them when it has just started.
      refused = isForbidden(error) || isApiError(error, 401) ? refused + 1 : 0;
      context.logger.debug({ error, server: link.hub.server }, 'the watch for news of the hub broke');
      await pause(waitAfter(refused), signal).catch(() => undefined);
    }
  }
}

/** Soon, then within half a minute, then once an hour; `refused` is how often in a row. */
function waitAfter(refused: number): number {
  if (refused > 3) return durations.agentListenRefused;
  return Math.random() * (refused === 1 ? durations.agentListenSoon : durations.agentListenRetry);
}

async function follow(
  context: AgentContext,
  link: Link,
  { namespace, name }: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<void> {
  // Version 0: the account as it is now comes first, from the server's memory, and no version can be too old.
  const place = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion: '0' };
  for await (const event of link.hub.watch(ServiceAccounts, { ...place, signal })) {
    if (event.type === 'BOOKMARK') continue;
    if (event.type === 'DELETED') {
      await pause(durations.agentAccountGone, signal);
      context.wake.wake();
      continue;
    }
    const revision = event.object.metadata.annotations?.[annotations.hubAddressRevision];
    if (revision !== undefined && context.news.heard(revision)) context.wake.wake();
  }
}

/** A listener that follows the link of the agent: there is always one at most. */
export class Listener {
  readonly #context: AgentContext;
  #link: Link | undefined;
  #stop: AbortController | undefined;

  constructor(context: AgentContext) {
    this.#context = context;
  }

  /** Listens over `link` from now on; nothing when it does already. */
  on(link: Link): void {
    if (this.#link === link) return;
    this.off();
    this.#link = link;
    this.#stop = new AbortController();
    void listen(this.#context, link, this.#stop.signal);
  }

  off(): void {
    this.#stop?.abort();
    this.#link = undefined;
  }
}
