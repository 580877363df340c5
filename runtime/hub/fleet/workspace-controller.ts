/**
 * Namespaces that an administrator opened by label: the hub binds itself the right to keep Secrets and Roles there, or,
 * where only sources of clusters are, to read Secrets.
 */
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

/** What a label opens: name of the controller; the ClusterRole that is bound, by a binding of the same name. */
export interface Opening {
  readonly name: string;
  readonly role: string;
}

const workspaceOpening: Opening = { name: 'workspace', role: grantRoles.hubNamespace };
export const sourceOpening: Opening = { name: 'source-namespace', role: grantRoles.hubSource };

export function createWorkspaceController(
  client: KubeClient,
  workspaces: Cache<Namespace>,
  systemNamespace: string,
  { name, role }: Opening = workspaceOpening,
): Controller {
  const controller = createController({
    name,
    backoff: { baseMs: durations.hubRetryFirst, maxMs: durations.hubRetryLast },
    async reconcile(namespace, { signal }) {
      const opened = workspaces.get(namespace);
      if (opened === undefined || opened.metadata.deletionTimestamp !== undefined) return;
      // most are open already, and a start must not write
      const key = { namespace, name: role };
      if ((await client.find(RoleBindings, key, { signal })) !== undefined) return;
      await ensureObject(
        client,
        {
          type: RoleBindings,
          object: {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'RoleBinding',
            metadata: { name: role, namespace },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
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
