/** Namespaces that an administrator opened by label: the hub binds itself the right to keep Secrets and Roles there. */
import { durations } from '../../../api/durations.ts';
import type { Namespace } from '../../../api/kubernetes/core.ts';
import { RoleBindings } from '../../../api/kubernetes/rbac.ts';
import { grantRoles, hubNames } from '../../../components/fleet/names.ts';
import type { Cache } from '../../kube/cache.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Controller } from '../../kube/controller.ts';
import { createController } from '../../kube/controller.ts';
import { ensureObject } from '../../registration/ensure.ts';
import { ensureOptions } from './context.ts';

export function createWorkspaceController(
  client: KubeClient,
  workspaces: Cache<Namespace>,
  systemNamespace: string,
): Controller {
  const controller = createController({
    name: 'workspace',
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast },
    async reconcile(name, { signal }) {
      const namespace = workspaces.get(name);
      if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
      // most are open already, and a start must not write
      const key = { namespace: name, name: hubNames.namespaceBinding };
      if ((await client.find(RoleBindings, key, { signal })) !== undefined) return;
      await ensureObject(
        client,
        {
          type: RoleBindings,
          object: {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'RoleBinding',
            metadata: { name: hubNames.namespaceBinding, namespace: name },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: grantRoles.hubNamespace },
            subjects: [{ kind: 'ServiceAccount', namespace: systemNamespace, name: hubNames.serviceAccount }],
          },
        },
        ensureOptions(signal),
      );
    },
  });
  controller.watch(workspaces, { predicate: ({ type }) => type === 'added' });
  return controller;
}
