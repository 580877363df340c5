/** The end of a token: after its ttl, after its one use, or by its owner; then all that was made for it goes. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { labels } from '../../../api/fleet/constants.ts';
import type { ClusterRegistration, ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrationTokens } from '../../../api/fleet/kinds.ts';
import { tokenRoleBindingName, tokenServiceAccountName } from '../../../api/fleet/names.ts';
import { ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { RoleBindings } from '../../../api/kubernetes/rbac.ts';
import { parseKey } from '../../../api/resource.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { indexes, needs } from './caches.ts';
import { lastSeenMs } from './cluster-liveness.ts';
import type { HubContext } from './context.ts';
import { deleteSame } from './delete-same.ts';
import { grantedRequests, isInUse } from './registration-state.ts';
import { isOneUse } from './token-objects.ts';

/** What a token leaves behind when it is deleted. The right to read answers is in another namespace, where no owner reference reaches. */
export function createTokenEnd(context: HubContext): Controller {
  const { caches } = context;
  const controller = createController({
    name: 'token-end',
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast },
    async reconcile(key, { signal }) {
      const { namespace = '', name } = parseKey(key);
      // the garbage collector would do it some time, and the API server knows a bearer for ten seconds after its account
      const account = context.serviceAccounts.get(key);
      await Promise.all([
        context.readers.forget({ namespace, name }, signal),
        context.client.delete(RoleBindings, { namespace, name: tokenRoleBindingName(name) }, { signal }),
        account === undefined ? undefined : deleteSame(context.client, ServiceAccounts, account, signal),
      ]);
    },
  });
  controller.watch(caches.tokens, {
    predicate: ({ type }) => type === 'deleted',
    map: ({ object }) => [accountOfToken(object)],
  });
  needs(controller, caches.readerRoles, caches.bindings, caches.serviceAccounts);
  return controller;
}

/** A token for one cluster ends when that one reports. */
export function createTokenUse(context: HubContext): Controller {
  const { caches } = context;
  const controller = createController({
    name: 'token-use',
    reconcile: (key, { signal }) => endIfUsed(context, key, signal),
  });
  needs(controller, caches.clusters, caches.requests, caches.tokens);
  controller.watch(caches.requests, {
    predicate: ({ object, previous }) => object.status?.granted === true && previous?.status?.granted !== true,
    map: ({ object }) => tokenKeyOf(object),
  });
  controller.watch(caches.clusters, {
    predicate: ({ type, object, previous }) =>
      type === 'updated' && lastSeenMs(previous ?? object) !== lastSeenMs(object),
    map: ({ object }) => {
      if (caches.tokens.byIndex(indexes.oneUse, object.metadata.namespace ?? '').length === 0) return [];
      return grantedRequests(context, object).flatMap(tokenKeyOf);
    },
  });
  return controller;
}

/** Deletes a token, whose values nobody may use any more; its event does the rest. */
export async function expire(context: HubContext, token: ClusterRegistrationToken, signal: AbortSignal): Promise<void> {
  await deleteSame(context.client, ClusterRegistrationTokens, token, signal);
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
