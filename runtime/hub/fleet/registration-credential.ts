/** The credential of a registered agent: renewed by itself, or without end. */
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { serviceAccountTokenName } from '../../../api/fleet/names.ts';
import { RoleBindings } from '../../../api/kubernetes/rbac.ts';
import { defaults } from '../../../api/fleet/constants.ts';
import { grantRoles, hubNames } from '../../../components/fleet/names.ts';
import type { Credential, CredentialPlan } from '../../registration/credential.ts';
import { durablePlan, requestToken, rotatingPlan, secretToken } from '../../registration/credential.ts';
import { ensureObject } from '../../registration/ensure.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import { verifyAccess, serviceAccountUser } from '../../registration/access.ts';
import type { HubContext } from './context.ts';
import { ensureOptions, managedLabels } from './context.ts';
import { isRotating } from './registration-request.ts';

/**
 * A bound token as long as the agent needs it; where the server caps tokens below that, a token Secret in the cluster
 * namespace, which the hub opens to itself for that one purpose.
 */
export async function issueFor(
  context: HubContext,
  request: ClusterRegistration,
  account: ServiceAccountKey,
  signal: AbortSignal,
): Promise<Credential> {
  return await issue(context, account, isRotating(request) ? rotatingPlan : durablePlan, signal);
}

/** As {@link issueFor}, with a plan of the caller's. */
export async function issue(
  context: HubContext,
  account: ServiceAccountKey,
  plan: CredentialPlan,
  signal: AbortSignal,
): Promise<Credential> {
  const bound = await requestToken(context.client, account, plan, Date.now(), signal);
  if (bound !== undefined) return bound;
  await openNamespace(context, account.namespace, signal);
  return await secretToken(context.client, account, {
    name: serviceAccountTokenName(account.name),
    labels: { ...managedLabels },
    signal,
  });
}

async function openNamespace(context: HubContext, namespace: string, signal: AbortSignal): Promise<void> {
  const hub = { namespace: context.systemNamespace || defaults.systemNamespace, name: hubNames.serviceAccount };
  await ensureObject(
    context.client,
    {
      type: RoleBindings,
      object: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: hubNames.namespaceBinding, namespace, labels: { ...managedLabels } },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: grantRoles.hubNamespace },
        subjects: [{ kind: 'ServiceAccount', ...hub }],
      },
    },
    ensureOptions(signal),
  );
  const check = { ...serviceAccountUser(hub), verb: 'create', group: '', resource: 'secrets', namespace };
  await verifyAccess(context.client, [check], signal);
}
