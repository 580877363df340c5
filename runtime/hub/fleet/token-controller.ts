/** ClusterRegistrationTokens: account, right to ask, token, and the values Secret that agents are installed with. */
import { createHash } from 'node:crypto';
import type { Condition } from '../../../api/conditions.ts';
import { conditionTypes, reasons, setCondition } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { MusterError, isMusterError } from '../../../api/errors.ts';
import { annotations, labels } from '../../../api/fleet/constants.ts';
import type {
  ClusterRegistration,
  ClusterRegistrationToken,
  ClusterRegistrationTokenStatus,
} from '../../../api/fleet/kinds.ts';
import { ClusterRegistrationTokens } from '../../../api/fleet/kinds.ts';
import { tokenRoleBindingName, tokenServiceAccountName } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isConflict, isForbidden, isNotFound } from '../../kube/api-error.ts';
import type { Controller, ReconcileContext, Result } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { isOwnedBy } from '../../kube/owner.ts';
import { ensureObject } from '../../registration/ensure.ts';
import { needs } from './caches.ts';
import { lastSeenMs } from './cluster-liveness.ts';
import type { HubContext } from './context.ts';
import { ensureOptions, hubFieldManager } from './context.ts';
import { grantedRequests, isInUse } from './registration-state.ts';
import { tokenFor } from './token-credential.ts';
import { tokenExpiry } from './token-expiry.ts';
import { isOneUse, tokenObjects, tokenOfAnnotation, valuesOf, valuesSecret } from './token-objects.ts';

/** The controller of tokens, and the one that cleans up after them. */
export function createTokenControllers(context: HubContext): Controller[] {
  const { caches } = context;
  const controller = createController({
    name: 'token',
    concurrency: 8,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    reconcile: (key, reconcile) => reconcileToken(context, key, reconcile),
  });
  needs(controller, caches.config);
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
  // the right to read answers is in another namespace, where no owner reference reaches
  const ended = createController({
    name: 'token-end',
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast },
    async reconcile(key, { signal }) {
      const { namespace = '', name } = parseKey(key);
      // the garbage collector would do it some time, and the API server knows a bearer for ten seconds after its account
      const { uid } = context.serviceAccounts.get(key)?.metadata ?? {};
      await Promise.all([
        context.readers.forget({ namespace, name }, signal),
        context.client.delete(RoleBindings, { namespace, name: tokenRoleBindingName(name) }, { signal }),
        uid === undefined ? undefined : deleteAccount(context, { namespace, name }, uid, signal),
      ]);
    },
  });
  ended.watch(caches.tokens, {
    predicate: ({ type }) => type === 'deleted',
    map: ({ object }) => [accountOfToken(object)],
  });
  needs(ended, caches.readerRoles, caches.serviceAccounts);
  context.secrets.subscribe(({ type, object }) => {
    if (type === 'deleted') owners(object).forEach((key) => controller.enqueue(key));
  });
  // a token for one cluster ends when that one reports
  const oneUse = createController({
    name: 'token-use',
    reconcile: (key, { signal }) => endIfUsed(context, key, signal),
  });
  needs(oneUse, caches.clusters, caches.requests, caches.tokens);
  oneUse.watch(caches.requests, {
    predicate: ({ object, previous }) => object.status?.granted === true && previous?.status?.granted !== true,
    map: ({ object }) => tokenKeyOf(object),
  });
  oneUse.watch(caches.clusters, {
    predicate: ({ type, object, previous }) =>
      type === 'updated' && lastSeenMs(previous ?? object) !== lastSeenMs(object),
    map: ({ object }) => {
      if (!caches.tokens.list(object.metadata.namespace ?? '').some(isOneUse)) return [];
      return grantedRequests(context, object).flatMap(tokenKeyOf);
    },
  });
  context.config.onChange((now, before) => {
    const { registrationTokenTTLRequired: required } = now;
    const same = now.apiServerURL === before.apiServerURL && now.apiServerCA === before.apiServerCA;
    if (same && required === before.registrationTokenTTLRequired) return;
    for (const token of caches.tokens.list()) controller.enqueue(keyOf(token));
  });
  return [controller, ended, oneUse];
}

/** `namespace/name` of a token's account. */
function accountOfToken({ metadata }: ClusterRegistrationToken): string {
  const { namespace = '', name = '', uid = '' } = metadata;
  return `${namespace}/${tokenServiceAccountName({ name, uid })}`;
}

function tokenKeyOf(request: ClusterRegistration): string[] {
  const name = request.metadata.labels?.[labels.registrationToken];
  return name ? [`${request.metadata.namespace ?? ''}/${name}`] : [];
}

/** Deletes a one-use token once the agent of a cluster that it registered was heard of. */
async function endIfUsed(context: HubContext, key: string, signal: AbortSignal): Promise<void> {
  const token = context.tokens.get(key);
  if (token === undefined || token.metadata.deletionTimestamp !== undefined || !isOneUse(token)) return;
  const namespace = token.metadata.namespace ?? '';
  const used = context.caches.requests.list(namespace).find((request) => {
    const cluster = context.clusters.get(`${namespace}/${request.status?.clusterName ?? ''}`);
    return (
      tokenKeyOf(request).includes(key) &&
      cluster !== undefined &&
      isInUse(context, request, cluster, { nowMs: Date.now(), doubt: true })
    );
  });
  if (used === undefined) return;
  const cluster = used.status?.clusterName ?? '';
  context.events.event(token, 'Normal', reasons.tokenUsed, `registered Cluster ${cluster}; it was for one cluster`);
  await expire(context, token, signal);
}

async function deleteAccount(
  context: HubContext,
  key: { namespace: string; name: string },
  uid: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await context.client.delete(ServiceAccounts, key, { signal, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
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

async function issue(
  context: HubContext,
  token: ClusterRegistrationToken,
  expiresMs: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid = '' } = token.metadata;
  const account = { namespace, name: tokenServiceAccountName({ name, uid }) };
  await context.secrets.whenOpen(namespace, signal);
  const known = context.serviceAccounts.get(keyOf(account));
  const current = context.secrets.get(`${namespace}/${name}`);
  if (known === undefined || !isCurrent(context, token, current, known.metadata.uid)) {
    const objects = tokenObjects(token, account);
    const options = ensureOptions(signal, (object) => isOwnedBy(object, token));
    const [serviceAccount] = await Promise.all([
      ensureObject(context.client, { type: ServiceAccounts, object: objects.serviceAccount }, options),
      ensureObject(context.client, { type: Roles, object: objects.role }, options),
      ensureObject(context.client, { type: RoleBindings, object: objects.roleBinding }, options),
    ]);
    context.serviceAccounts.remember(serviceAccount);
    await writeValues(context, token, { account, accountUid: serviceAccount.metadata.uid ?? '', expiresMs }, signal);
  }
  const expires = expiresMs === undefined ? undefined : rfc3339(expiresMs);
  const written = await context.tokenStatus.update(
    keyOf(token),
    (latest) => ({
      ...latest.status,
      secretName: name,
      ...(expires === undefined ? {} : { expires }),
      conditions: conditionsWith(latest, { type: conditionTypes.issued, status: 'True', reason: reasons.done }),
    }),
    signal,
  );
  if (written !== undefined && written.before !== written.after) {
    context.events.event(token, 'Normal', 'Issued', `values for agents are in Secret ${name}`);
  }
}

/** What the values say beside the token itself; part of the Secret's annotation, so that no reconcile has to read it. */
function revision(context: HubContext, token: ClusterRegistrationToken): string {
  const { token: _, ...rest } = valuesOf(context, token, '');
  return createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32);
}

function isCurrent(
  context: HubContext,
  token: ClusterRegistrationToken,
  secret: Secret | undefined,
  accountUid: string | undefined,
): boolean {
  const notes = secret?.metadata.annotations ?? {};
  return notes[annotations.appliedHash] === revision(context, token) && notes[tokenOfAnnotation] === accountUid;
}

async function writeValues(
  context: HubContext,
  token: ClusterRegistrationToken,
  issued: { account: { namespace: string; name: string }; accountUid: string; expiresMs: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '' } = token.metadata;
  const existing = await findValues(context, { namespace, name }, signal);
  if (existing !== undefined && !isOwnedBy(existing, token)) {
    throw new MusterError('ALREADY_OWNED', "a Secret of this name exists and is not the token's", {
      where: `Secret ${namespace}/${name}`,
      hint: 'Delete that Secret, or give the token another name.',
    });
  }
  const bearer = await tokenFor(context, token, issued, existing, signal);
  const secret = valuesSecret(token, valuesOf(context, token, bearer), {
    [annotations.appliedHash]: revision(context, token),
    [tokenOfAnnotation]: issued.accountUid,
  });
  const options = { signal, fieldManager: hubFieldManager };
  const stored =
    existing === undefined
      ? await context.client.create(Secrets, secret, options)
      : await context.client.apply(Secrets, secret, options);
  context.secrets.remember(stored);
}

/** No request when the Secrets of the namespace are known and it is not among them. */
async function findValues(
  context: HubContext,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<Secret | undefined> {
  if (context.secrets.isOpen(key.namespace) && context.secrets.get(keyOf(key)) === undefined) return undefined;
  return await context.client.find(Secrets, key, { signal });
}

async function expire(context: HubContext, token: ClusterRegistrationToken, signal: AbortSignal): Promise<void> {
  const { uid } = token.metadata;
  try {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await context.client.delete(ClusterRegistrationTokens, parseKey(keyOf(token)), { signal, ...preconditions });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}

async function refuse(
  context: HubContext,
  token: ClusterRegistrationToken,
  reason: string,
  message: string,
  signal: AbortSignal,
): Promise<void> {
  const written = await context.tokenStatus.update(
    keyOf(token),
    (latest) => ({
      ...latest.status,
      conditions: conditionsWith(latest, { type: conditionTypes.issued, status: 'False', reason, message }),
    }),
    signal,
  );
  if (written !== undefined && written.before !== written.after)
    context.events.event(token, 'Warning', reason, message);
}

/** Faults that a user has to know of; the reconcile is tried again all the same. */
async function explain(
  context: HubContext,
  token: ClusterRegistrationToken,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (isMusterError(error)) {
    const reason =
      error.code === 'ALREADY_OWNED'
        ? reasons.nameTaken
        : error.code === 'TIMEOUT'
          ? reasons.waitingForServiceAccountToken
          : reasons.error;
    await refuse(context, token, reason, error.describe(), signal);
  } else if (isForbidden(error)) {
    const namespace = token.metadata.namespace ?? '';
    const message = `the hub may not work in namespace ${namespace}; label it muster.dev/workspace=true to open it`;
    await refuse(context, token, reasons.error, message, signal);
  }
}

function conditionsWith(
  token: ClusterRegistrationToken,
  condition: Condition,
): NonNullable<ClusterRegistrationTokenStatus['conditions']> {
  const before = (token.status?.conditions ?? []) as Condition[];
  return setCondition(before, condition) as NonNullable<ClusterRegistrationTokenStatus['conditions']>;
}

function rfc3339(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
