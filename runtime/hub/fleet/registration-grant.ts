/** What a granted request gets in Fleet's protocol: account, rights, and the Secret that answers it. */
import type { Secret, ServiceAccount } from '../../../api/kubernetes/core.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import type { Role, RoleBinding, RoleRef, Subject } from '../../../api/kubernetes/rbac.ts';
import { ClusterRoleBindings, RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import { annotations, group, labels, secretKeys, secretTypes } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { ClusterRegistrations } from '../../../api/fleet/kinds.ts';
import {
  contentBindingName,
  registrationSecretName,
  requestServiceAccountName,
} from '../../../api/fleet/names.ts';
import type { Namespace } from '../../../api/kubernetes/core.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import { grantRoles } from '../../../components/fleet/names.ts';
import { ownerReference } from '../../kube/owner.ts';
import type { Credential } from '../../registration/credential.ts';
import type { AccessCheck, GrantObject, ServiceAccountKey } from '../../registration/types.ts';
import { serviceAccountUser } from '../../registration/access.ts';
import { managedLabels } from './context.ts';
import { isRotating } from './registration-request.ts';

const rbac = 'rbac.authorization.k8s.io/v1';

/** Names and places of one grant. */
export interface GrantScope {
  readonly request: ClusterRegistration;
  readonly cluster: Cluster;
  readonly namespace: Namespace;
  readonly registrationNamespace: string;
  readonly systemNamespace: string;
}

/** The account that the agent will be. */
export function accountOf({ request, namespace }: Pick<GrantScope, 'request' | 'namespace'>): ServiceAccountKey {
  const { name = '', uid = '' } = request.metadata;
  return { namespace: namespace.metadata.name ?? '', name: requestServiceAccountName({ name, uid }) };
}

/** `namespace/name` of the account of a request whose cluster namespace is known. */
export function accountKey(request: ClusterRegistration, clusterNamespace: string): string {
  const { name = '', uid = '' } = request.metadata;
  return `${clusterNamespace}/${requestServiceAccountName({ name, uid })}`;
}

/** Name of the Secret that answers a request. */
export function answerName(request: ClusterRegistration): string {
  return registrationSecretName(request.spec?.clientID ?? '', request.spec?.clientRandom ?? '');
}

/** Back from an object of a grant to its request and Cluster; owner references cannot cross namespaces. */
function trace({ request, cluster }: GrantScope): Record<string, string> {
  return {
    [annotations.cluster]: cluster.metadata.name ?? '',
    [annotations.clusterNamespace]: cluster.metadata.namespace ?? '',
    [annotations.clusterRegistration]: request.metadata.name ?? '',
    [annotations.clusterRegistrationNamespace]: request.metadata.namespace ?? '',
  };
}

/** Account and rights. Everything here ends with the cluster namespace or with the request. */
export function grantRights(scope: GrantScope): GrantObject[] {
  const { request, cluster, namespace } = scope;
  const account = accountOf(scope);
  const name = request.metadata.name ?? '';
  const workspace = request.metadata.namespace ?? '';
  const subjects: Subject[] = [{ kind: 'ServiceAccount', ...account }];
  const base = { labels: { ...managedLabels }, annotations: trace(scope) };
  const ownedByRequest = { ...base, ownerReferences: [ownerReference(ClusterRegistrations, request)] };
  const ownedByNamespace = { ...base, ownerReferences: [ownerReference(Namespaces, namespace)] };

  const serviceAccount: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...account, ...base },
    // nothing in the cluster namespace may run as the agent by accident
    automountServiceAccountToken: false,
  };
  const heartbeat: Role = {
    apiVersion: rbac,
    kind: 'Role',
    metadata: { name, namespace: workspace, ...ownedByRequest },
    rules: [
      { apiGroups: [group], resources: ['clusters/status'], verbs: ['patch'], resourceNames: [cluster.metadata.name ?? ''] },
    ],
  };
  const rights: GrantObject[] = [
    { type: ServiceAccounts, object: serviceAccount },
    { type: Roles, object: heartbeat },
    {
      type: RoleBindings,
      object: binding({ name, namespace: workspace, ...ownedByRequest }, role('Role', name), subjects),
    },
    {
      type: RoleBindings,
      object: binding({ name, namespace: account.namespace, ...base }, role('ClusterRole', grantRoles.bundleDeployment), subjects),
    },
    {
      type: ClusterRoleBindings,
      object: {
        ...binding({ name: contentBindingName(name), ...ownedByNamespace }, role('ClusterRole', grantRoles.content), subjects),
        kind: 'ClusterRoleBinding',
      },
    },
  ];
  if (isRotating(request)) {
    const renewal = { name: renewalBindingName(name), namespace: account.namespace, ...base };
    rights.push({
      type: RoleBindings,
      object: binding(renewal, role('ClusterRole', grantRoles.credentialRenewal), subjects),
    });
  }
  return rights;
}

/** Binding that lets an agent issue itself its next token. */
export function renewalBindingName(requestName: string): string {
  return `${requestName}-renewal`;
}

/** The right without which an original agent gives up at its first step. */
export function grantChecks(scope: GrantScope): AccessCheck[] {
  const account = accountOf(scope);
  return [
    {
      ...serviceAccountUser(account),
      verb: 'list',
      group,
      resource: 'bundledeployments',
      namespace: account.namespace,
    },
  ];
}

/** The answer. Its five keys are what agents read. */
export function answer(scope: GrantScope, credential: Credential): GrantObject<Secret> {
  const { request, cluster, registrationNamespace, systemNamespace } = scope;
  return {
    type: Secrets,
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      type: secretTypes.agentCredential,
      metadata: {
        name: answerName(request),
        namespace: registrationNamespace,
        labels: { ...managedLabels, [labels.cluster]: cluster.metadata.name ?? '' },
        annotations: trace(scope),
      },
      data: encode({
        [secretKeys.token]: credential.token,
        [secretKeys.deploymentNamespace]: scope.namespace.metadata.name ?? '',
        [secretKeys.clusterNamespace]: cluster.metadata.namespace ?? '',
        [secretKeys.clusterName]: cluster.metadata.name ?? '',
        [secretKeys.systemNamespace]: systemNamespace,
      }),
    },
  };
}

function encode(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}

function role(kind: RoleRef['kind'], name: string): RoleRef {
  return { apiGroup: 'rbac.authorization.k8s.io', kind, name };
}

function binding(metadata: RoleBinding['metadata'], roleRef: RoleRef, subjects: Subject[]): RoleBinding {
  return { apiVersion: rbac, kind: 'RoleBinding', metadata, roleRef, subjects };
}
