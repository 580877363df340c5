/** ClusterRegistrationTokens: what becomes of one, from its making to its end. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import type { ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { needs } from './caches.ts';
import type { HubContext } from './context.ts';
import { createTokenEnd, createTokenUse, expire } from './token-end.ts';
import { tokenExpiry } from './token-expiry.ts';
import { issue } from './token-issue.ts';
import { explain, refuse } from './token-report.ts';

/** The controller of tokens, and those that end them and clean up after them. */
export function createTokenControllers(context: HubContext): Controller[] {
  const { caches } = context;
  const controller = createController({
    name: 'token',
    // as many as registrations: each import of a crowd makes one
    concurrency: 24,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (key, reconcile) => reconcileToken(context, key, reconcile),
  });
  needs(controller, caches.config, caches.readerRoles, caches.bindings);
  controller.watch(caches.tokens, {
    predicate: ({ type, object, previous }) =>
      type !== 'updated' || previous?.metadata.generation !== object.metadata.generation,
  });
  const owners = (object: { metadata: ClusterRegistrationToken['metadata'] }): string[] =>
    (object.metadata.ownerReferences ?? [])
      .filter(({ kind }) => kind === 'ClusterRegistrationToken')
      .map(({ name }) => `${object.metadata.namespace ?? ''}/${name}`);
  controller.watch(caches.serviceAccounts, {
    predicate: ({ type }) => type === 'deleted',
    map: ({ object }) => owners(object),
  });
  context.secrets.subscribe(({ type, object }) => {
    if (type === 'deleted') owners(object).forEach((key) => controller.enqueue(key));
  });
  context.config.onChange((now, before) => {
    const { registrationTokenTTLRequired: required } = now;
    const same = now.apiServerURL === before.apiServerURL && now.apiServerCA === before.apiServerCA;
    if (same && required === before.registrationTokenTTLRequired) return;
    for (const token of caches.tokens.list()) controller.enqueue(keyOf(token));
  });
  return [controller, createTokenEnd(context), createTokenUse(context)];
}

async function reconcileToken(context: HubContext, key: string, { signal }: ReconcileContext): Promise<Result | void> {
  const token = context.tokens.get(key);
  if (token === undefined || token.metadata.deletionTimestamp !== undefined) return;
  const expiry = tokenExpiry(token);
  if (expiry.state === 'invalid') {
    return await refuse(context, token, reasons.invalidTtl, expiry.message, signal);
  }
  if (expiry.state === 'never' && ttlRequired(context)) {
    const message = 'the hub takes no tokens that live for ever; set spec.ttl';
    if (!token.status?.secretName) return await refuse(context, token, reasons.ttlRequired, message, signal);
    // issued before: agents may hold it, so it goes as one that has expired
    context.events.event(token, 'Warning', reasons.ttlRequired, message);
    return await expire(context, token, signal);
  }
  const nowMs = Date.now();
  if (expiry.state === 'until' && expiry.expiresMs <= nowMs) return await expire(context, token, signal);
  const { apiServerURL } = context.config.current;
  if (!apiServerURL) {
    const message = 'the hub does not know its own address; set apiServerURL in ConfigMap fleet-controller';
    return await refuse(context, token, reasons.hubAddressMissing, message, signal);
  }
  try {
    await issue(context, token, expiry.state === 'until' ? expiry.expiresMs : undefined, signal);
  } catch (error) {
    await explain(context, token, error, signal);
    throw error;
  }
  if (expiry.state === 'until') return { requeueAfterMs: expiry.expiresMs - Date.now() };
}

function ttlRequired(context: HubContext): boolean {
  return context.tokenTtlRequired || context.config.current.registrationTokenTTLRequired === true;
}
