/** The agent's one loop: get a link, keep it up, and when it breaks get one again. */
import { durations } from '../../../api/durations.ts';
import { backoffMs } from '../../kube/backoff.ts';
import { type AgentContext, attempt } from './context.ts';
import { storeCredential } from './credential.ts';
import { toAgentError } from './failure.ts';
import { heartbeatDelay } from './heartbeat.ts';
import { readBootstrap } from './bootstrap.ts';
import { findHub, followHub, isAstray } from './follow-hub.ts';
import { type Link, heartbeat, openLink } from './connection.ts';
import { establish, isRejection } from './link.ts';
import { Listener } from './listen.ts';
import { restoreIfLost } from './restore.ts';
import { renewCredential, renewalDelay, renewalRetryDelay } from './renewal.ts';

/** Between attempts after a failure: doubled each time, half of it at random so that a fleet does not return as one. */
const retry = { baseMs: durations.agentRetryFirst, maxMs: durations.agentRetryLast, jitter: 0.5 };

/** Pause after so many failures in a row. */
export function retryDelay(failures: number, random?: () => number): number {
  return backoffMs(failures, retry, random);
}

/** Runs until `signal` aborts. No fault of hub, network or configuration ends it. */
export async function runSession(context: AgentContext, signal: AbortSignal): Promise<void> {
  const { status } = context;
  status.enter('starting', 'agent leads');
  for (let failures = 0; !signal.aborted;) {
    try {
      const link = await establish(context, signal);
      failures = 0;
      status.enter('connected', `connected to ${link.hub.server}`);
      status.succeeded('Connected', `connected to ${link.hub.server}`);
      await keepUp(context, link, signal);
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const delay = retryDelay(failures);
      status.failed(toAgentError(error, 'edge', context.edge.server), delay);
      await context.wake.wait(delay, signal);
    }
  }
}

/**
 * Heartbeats and renewals over `first`, until the signal aborts or something calls for a look: the bootstrap Secret, or
 * news of the hub (returns), or the hub rejects the credential (throws).
 */
export async function keepUp(context: AgentContext, first: Link, signal: AbortSignal): Promise<void> {
  let link = first;
  let failures = 0;
  let beatAt = performance.now() + heartbeatDelay(context.checkinIntervalMs);
  let renewAt = renewalTime(link);
  const listener = new Listener(context);
  try {
    for (;;) {
      listener.on(link);
      const outcome = await context.wake.wait(Math.min(beatAt, renewAt) - performance.now(), signal);
      if (outcome !== 'elapsed') return;
      if (performance.now() >= renewAt) {
        link = await renew(context, link, signal);
        renewAt = Math.max(
          renewalTime(link),
          performance.now() + renewalRetryDelay(link.credential.config.token ?? ''),
        );
      }
      if (performance.now() >= beatAt) {
        const next = await beat(context, link, failures, signal);
        failures = next === undefined ? failures + 1 : 0;
        link = next ?? link;
        const delay = failures === 0 ? heartbeatDelay(context.checkinIntervalMs) : retryDelay(failures);
        beatAt = performance.now() + delay;
      }
    }
  } finally {
    listener.off();
    await link.hub.close();
  }
}

function renewalTime(link: Link): number {
  return performance.now() + (renewalDelay(link.credential.config.token ?? '') ?? Number.POSITIVE_INFINITY);
}

/** One heartbeat; `undefined` when the hub was not reached. Throws when it rejects the credential. */
async function beat(
  context: AgentContext,
  link: Link,
  failures: number,
  signal: AbortSignal,
): Promise<Link | undefined> {
  try {
    const place = await heartbeat(context, link, signal);
    context.status.succeeded('Connected', `connected to ${link.hub.server} again`);
    await restoreIfLost(context, link.credential, signal);
    return await followHub(context, link, place, signal);
  } catch (error) {
    if (signal.aborted || isRejection(error)) throw error;
    const found = isAstray(error) ? await lookAround(context, link, signal) : undefined;
    if (found !== undefined) return found;
    context.status.failed(toAgentError(error, 'heartbeat', link.hub.server), retryDelay(failures + 1));
    return undefined;
  }
}

/** The hub at another place that this cluster was told of; `undefined` when it is not there either. */
async function lookAround(context: AgentContext, link: Link, signal: AbortSignal): Promise<Link | undefined> {
  try {
    const bootstrap = await readBootstrap(context, signal).catch((error: unknown) =>
      toAgentError(error, 'edge', context.edge.server),
    );
    const found = await findHub(context, link.credential, bootstrap, signal);
    if (found !== undefined) await link.hub.close();
    return found;
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined; // the edge does not answer now; the next heartbeat looks again
  }
}

/** The link with a new token, stored before it is used; the same link when the hub did not give one. */
async function renew(context: AgentContext, link: Link, signal: AbortSignal): Promise<Link> {
  try {
    const credential = await attempt(link.hub, 'renewal', () => renewCredential(link.hub, link.credential, { signal }));
    await attempt(context.edge, 'edge', () => storeCredential(context.edge, context.namespace, credential));
    await link.hub.close();
    context.logger.info({ server: link.hub.server }, 'token renewed');
    return openLink(context, credential);
  } catch (error) {
    if (signal.aborted) throw error;
    context.status.warned(toAgentError(error, 'renewal', link.hub.server));
    return link;
  }
}
