/** The objects of one ClusterRegistrationToken; they all live in its namespace and go with it. Pure. */
import { annotations, group, secretKeys, secretTypes } from '../../../api/fleet/constants.ts';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { formatValues } from '../../../api/fleet/bootstrap-values.ts';
import type { ClusterRegistrationToken } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrationTokens } from '../../../api/fleet/kinds.ts';
import { tokenRoleBindingName, tokenRoleName } from '../../../api/fleet/names.ts';
import type { Secret, ServiceAccount } from '../../../api/kubernetes/core.ts';
import type { Role, RoleBinding } from '../../../api/kubernetes/rbac.ts';
import { ownerReference } from '../../kube/owner.ts';
import type { ServiceAccountKey } from '../../registration/types.ts';
import type { HubContext } from './context.ts';
import { managedLabels } from './context.ts';

/** On a values Secret: UID of the account that its token is of. */
export const tokenOfAnnotation = 'muster.dev/token-of';

/** On a ClusterRegistrationToken, value `true`: it registers one cluster and ends with that one's first heartbeat. */
export const oneUseAnnotation = annotations.oneUse;

export function isOneUse(token: ClusterRegistrationToken): boolean {
  return token.metadata.annotations?.[oneUseAnnotation] === 'true';
}

const rbac = 'rbac.authorization.k8s.io';

/** Account, and its one right: to create ClusterRegistrations in this namespace. */
export function tokenObjects(
  token: ClusterRegistrationToken,
  account: ServiceAccountKey,
): { serviceAccount: ServiceAccount; role: Role; roleBinding: RoleBinding } {
  const { namespace } = account;
  const base = {
    namespace,
    labels: { ...managedLabels },
    ownerReferences: [ownerReference(ClusterRegistrationTokens, token)],
  };
  const roleName = tokenRoleName(account.name);
  return {
    serviceAccount: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: account.name, ...base },
      automountServiceAccountToken: false,
    },
    role: {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: { name: roleName, ...base },
      rules: [{ apiGroups: [group], resources: ['clusterregistrations'], verbs: ['create'] }],
    },
    roleBinding: {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: tokenRoleBindingName(account.name), ...base },
      roleRef: { apiGroup: rbac, kind: 'Role', name: roleName },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  };
}

/** What an agent is told, from the hub's configuration as it is now. */
export function valuesOf(
  context: Pick<HubContext, 'config' | 'registrationNamespace' | 'systemNamespace'>,
  token: ClusterRegistrationToken,
  bearer: string,
): BootstrapValues {
  const { apiServerURL = '', apiServerCA = '' } = context.config.current;
  return {
    clusterNamespace: token.metadata.namespace ?? '',
    apiServerURL,
    apiServerCA: Buffer.from(apiServerCA, 'base64').toString('utf8'),
    token: bearer,
    tokenName: token.metadata.name ?? '',
    systemRegistrationNamespace: context.registrationNamespace,
    systemNamespace: context.systemNamespace,
  };
}

export function valuesSecret(
  token: ClusterRegistrationToken,
  values: BootstrapValues,
  notes: Record<string, string>,
): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: secretTypes.registrationValues,
    metadata: {
      name: token.metadata.name ?? '',
      namespace: token.metadata.namespace ?? '',
      labels: { ...managedLabels },
      annotations: notes,
      ownerReferences: [ownerReference(ClusterRegistrationTokens, token)],
    },
    data: { [secretKeys.values]: Buffer.from(formatValues(values)).toString('base64') },
  };
}
