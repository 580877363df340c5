/** How the agent comes to have a connection to the hub that works. */
import { durations } from '../../../api/durations.ts';
import { pause } from '../../kube/backoff.ts';
import { type Bootstrap, bootstrapMissing, discardBootstrap, readBootstrap } from './bootstrap.ts';
import { type Link, heartbeat, openLink } from './connection.ts';
import { type AgentContext, attempt } from './context.ts';
import { type AgentCredential, readCredential, storeCredential } from './credential.ts';
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import { type AgentError, isAgentError } from './failure.ts';
import { announcedAddress, findHub, followHub, isAstray, sameHub } from './follow-hub.ts';
import { register } from './register.ts';
import { forget } from './request.ts';

/**
 * A link whose credential the hub has just accepted: the stored one if it still works, else a new registration. The
 * check is the first heartbeat, so a cluster is seen as soon as it is registered.
 *
 * A hub that cannot be reached says nothing about a credential: then nothing is given up and the error is thrown.
 */
export async function establish(context: AgentContext, signal: AbortSignal): Promise<Link> {
  const [stored, bootstrap] = await Promise.all([
    orError(readStored(context, signal)),
    orError(readBootstrap(context, signal)),
  ]);
  let rejection: AgentError | undefined;
  if (isAgentError(stored)) {
    if (!isAgentError(stored, 'CredentialInvalid')) throw stored;
    rejection = stored;
  } else if (stored !== undefined) {
    const link = openLink(context, stored);
    try {
      // Told no before, one question is enough: a rejected agent stays quiet.
      const patience = isRejection(context.status.failure) ? 0 : durations.agentRejectionConfirm;
      const announced =
        (await confirm(context, link, patience, signal)) ?? (await orError(announcedAddress(context, signal)));
      const followed = isAgentError(announced) ? link : await followHub(context, link, announced, signal);
      return await reconsider(context, followed, bootstrap, signal);
    } catch (error) {
      await link.hub.close();
      const found = isAstray(error) ? await findHub(context, stored, bootstrap, signal) : undefined;
      if (found !== undefined) return await reconsider(context, found, bootstrap, signal);
      if (!isRejection(error)) throw error;
      rejection = error;
    }
  }
  if (isAgentError(bootstrap)) throw bootstrap;
  if (bootstrap === undefined) throw rejection ?? bootstrapMissing(context.namespace);
  if (rejection !== undefined) context.status.warned(rejection);
  return await registerAnew(context, bootstrap, signal);
}

/** Whether the hub told this credential no, as opposed to not being asked. */
export function isRejection(error: unknown): error is AgentError {
  return isAgentError(error, 'CredentialRejected', 'CredentialForbidden', 'ClusterMissing', 'CredentialInvalid');
}

/**
 * Sends a heartbeat, tried again for `patienceMs` while it is refused: rights may land after the credential, and an API
 * server that has just started refuses what it does not know yet.
 */
async function confirm(
  context: AgentContext,
  link: Link,
  patienceMs: number,
  signal: AbortSignal,
): Promise<HubAddress | undefined> {
  const end = performance.now() + patienceMs;
  for (let delay: number = durations.agentGrantPollFirst; ; delay = Math.min(delay * 1.5, patienceMs / 10)) {
    try {
      return await heartbeat(context, link, signal);
    } catch (error) {
      if (!isRejection(error) || performance.now() >= end) throw error;
    }
    await pause(delay, signal);
  }
}

/**
 * A bootstrap Secret beside a working credential: one for the same hub and workspace tells at most of a new address or
 * CA, and is removed, as Fleet's agent does. One for another hub or workspace is a move: the agent registers there, and stays where
 * it is while that fails.
 */
async function reconsider(
  context: AgentContext,
  link: Link,
  bootstrap: Bootstrap | AgentError | undefined,
  signal: AbortSignal,
): Promise<Link> {
  if (bootstrap === undefined) return link;
  if (isAgentError(bootstrap)) {
    context.status.warned(bootstrap);
    return link;
  }
  const place = sameHub(link.credential, bootstrap);
  if (place !== undefined) {
    const followed = await followHub(context, link, place, signal);
    await discardBootstrap(context, bootstrap.secret, signal);
    return followed;
  }
  try {
    const moved = await registerAnew(context, bootstrap, signal);
    await link.hub.close();
    return moved;
  } catch (error) {
    if (!isAgentError(error) || signal.aborted) throw error;
    context.status.warned(error);
    return link;
  }
}

/** Stored before it is used, used before the bootstrap Secret goes: at every moment there is a way back in. */
async function registerAnew(context: AgentContext, bootstrap: Bootstrap, signal: AbortSignal): Promise<Link> {
  context.status.enter('registering', `registering with ${bootstrap.values.apiServerURL}`);
  const { credential, request, secret } = await register(context, bootstrap, signal);
  await attempt(context.edge, 'edge', () => storeCredential(context.edge, context.namespace, credential));
  const link = openLink(context, credential);
  let announced: HubAddress | undefined;
  try {
    announced = await confirm(context, link, durations.agentCredentialSettle, signal);
  } catch (error) {
    await link.hub.close();
    const old = Date.now() - Date.parse(request.createdAt) > durations.registrationSecretLifetime;
    if (isAgentError(error, 'CredentialRejected') || (isRejection(error) && old)) {
      await attempt(context.edge, 'edge', () => forget(context.edge, secret));
    }
    throw error;
  }
  const name = `${credential.clusterNamespace}/${credential.clusterName}`;
  context.status.succeeded('Registered', `registered as Cluster ${name} with ${link.hub.server}`, true);
  await discardBootstrap(context, secret, signal);
  // the hub may have moved while the agent was registering
  return await followHub(context, link, announced, signal);
}

async function readStored(context: AgentContext, signal: AbortSignal): Promise<AgentCredential | undefined> {
  return await attempt(context.edge, 'edge', () => readCredential(context.edge, context.namespace, signal));
}

/** The outcome, with an AgentError as a value. */
async function orError<T>(outcome: Promise<T>): Promise<T | AgentError> {
  try {
    return await outcome;
  } catch (error) {
    if (isAgentError(error)) return error;
    throw error;
  }
}
