/** Requests that are gone: their grants follow. Keys are `namespace/name` of ClusterRegistrations. */
import { durations } from '../../../api/durations.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { indexes, needs, requestOf } from './caches.ts';
import type { HubContext } from './context.ts';
import { revokeGrant } from './revocation.ts';

export function createRevocationController(context: HubContext): Controller {
  const { requests, serviceAccounts } = context.caches;
  const controller = createController({
    name: 'revocation',
    concurrency: 8,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast, jitter: 0.2 },
    async reconcile(key, { signal }) {
      if (requests.get(key) !== undefined) return;
      context.published.delete(key);
      // a cache can be wrong for a moment; a credential that is taken away does not come back
      if ((await context.client.find(ClusterRegistrations, parseKey(key), { signal })) !== undefined) return;
      await revokeGrant(context, key, signal);
    },
  });
  needs(
    controller,
    context.caches.namespaces,
    context.caches.credentials,
    context.caches.readerRoles,
    context.caches.bindings,
  );
  controller.watch(requests, {
    predicate: ({ type }) => type === 'deleted',
    map: ({ object }) => {
      const key = keyOf(object);
      const begun = serviceAccounts.byIndex(indexes.request, key).length > 0;
      return begun || object.status?.granted === true ? [key] : [];
    },
  });
  // accounts whose request went while no hub was there
  controller.watch(serviceAccounts, {
    predicate: ({ type, object }) => type === 'added' && requestOf(object) !== undefined,
    map: ({ object }) => {
      const key = requestOf(object);
      return key === undefined || requests.get(key) !== undefined ? [] : [key];
    },
  });
  return controller;
}
