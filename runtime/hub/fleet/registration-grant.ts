/** What a granted request gets in Fleet's protocol: account, rights, and the Secret that answers it. */
import type { Secret, ServiceAccount } from '../../../api/kubernetes/core.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import type { RoleBinding, RoleRef, Subject } from '../../../api/kubernetes/rbac.ts';
import { ClusterRoleBindings, RoleBindings } from '../../../api/kubernetes/rbac.ts';
import { annotations, group, labels, secretKeys, secretTypes } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { contentBindingName, registrationSecretName, requestServiceAccountName } from '../../../api/fleet/names.ts';
import type { Namespace } from '../../../api/kubernetes/core.ts';
import { grantRoles } from '../../../components/fleet/names.ts';
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
  /** Whether the agent gets the right to get Contents now (content-rights.ts). */
  readonly contents: boolean;
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

/**
 * Account and rights, all of them bindings of static roles: making no rules at run time is both the quicker and the
 * narrower way. No owner references: most would cross namespaces, and the garbage collector asks the API server about
 * each of them. revocation.ts takes these objects back, also those of a time when no hub was there.
 */
export function grantRights(scope: GrantScope): GrantObject[] {
  const { request } = scope;
  const account = accountOf(scope);
  const name = request.metadata.name ?? '';
  const workspace = request.metadata.namespace ?? '';
  // an agent of ours may issue itself its next token, too
  const bundles = isRotating(request) ? grantRoles.credentialRenewal : grantRoles.bundleDeployment;
  const subjects: Subject[] = [{ kind: 'ServiceAccount', ...account }];
  const base = { labels: { ...managedLabels }, annotations: trace(scope) };

  const serviceAccount: ServiceAccount = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...account, ...base },
    // nothing in the cluster namespace may run as the agent by accident
    automountServiceAccountToken: false,
  };
  return [
    { type: ServiceAccounts, object: serviceAccount },
    {
      type: RoleBindings,
      object: binding({ name, namespace: workspace, ...base }, role('ClusterRole', grantRoles.clusterStatus), subjects),
    },
    {
      type: RoleBindings,
      object: binding({ name, namespace: account.namespace, ...base }, role('ClusterRole', bundles), subjects),
    },
    ...(scope.contents ? [contentRight(scope)] : []),
  ];
}

/** The right to get Contents by name. They have no namespace. */
export function contentRight(scope: GrantScope): GrantObject {
  const name = contentBindingName(scope.request.metadata.name ?? '');
  const metadata = { name, labels: { ...managedLabels }, annotations: trace(scope) };
  const subjects: Subject[] = [{ kind: 'ServiceAccount', ...accountOf(scope) }];
  const object = binding(metadata, role('ClusterRole', grantRoles.content), subjects);
  return { type: ClusterRoleBindings, object: { ...object, kind: 'ClusterRoleBinding' } };
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
