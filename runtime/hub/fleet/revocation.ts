/** Taking back what a request was granted. */
import { ServiceAccounts, Secrets } from '../../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings } from '../../../api/kubernetes/rbac.ts';
import { contentBindingName } from '../../../api/fleet/names.ts';
import type { ObjectKey, ResourceType } from '../../../api/resource.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { indexes, requestOf } from './caches.ts';
import type { HubContext } from './context.ts';

/**
 * Removes everything that was granted to the request `namespace/name`. The accounts go last: they are how this is found
 * again if the hub ends in between, and an account without rights can do no harm.
 */
export async function revokeGrant(context: HubContext, requestKey: string, signal: AbortSignal): Promise<void> {
  const { namespace = '', name } = parseKey(requestKey);
  const accounts = context.caches.serviceAccounts.byIndex(indexes.request, requestKey);
  const answers = context.caches.credentials.byIndex(indexes.request, requestKey);
  const remove = async (type: ResourceType, key: ObjectKey): Promise<void> => {
    await context.client.delete(type, key, { signal });
  };
  const work: Promise<void>[] = [
    remove(RoleBindings, { namespace, name }),
    removeContentBinding(context, requestKey, signal),
    ...answers.map((answer) => remove(Secrets, parseKey(keyOf(answer)))),
  ];
  for (const { metadata } of accounts) {
    const clusterNamespace = metadata.namespace ?? '';
    if (context.namespaces.get(clusterNamespace)?.metadata.deletionTimestamp !== undefined) continue;
    work.push(remove(RoleBindings, { namespace: clusterNamespace, name }));
  }
  await Promise.all(work);
  if (answers.length > 0) await context.readers.revoke(new Set(answers.map(({ metadata }) => metadata.name ?? '')));
  await Promise.all(
    accounts.map(async (account) => {
      const { uid } = account.metadata;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await context.client.delete(ServiceAccounts, parseKey(keyOf(account)), { signal, ...preconditions });
    }),
  );
}

/** Its name has no namespace in it, so a request of another workspace may have the same. */
async function removeContentBinding(context: HubContext, requestKey: string, signal: AbortSignal): Promise<void> {
  const key = { name: contentBindingName(parseKey(requestKey).name) };
  const found = await context.client.find(ClusterRoleBindings, key, { signal });
  if (found !== undefined && requestOf(found) === requestKey)
    await context.client.delete(ClusterRoleBindings, key, { signal });
}
