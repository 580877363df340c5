/** The hub's local copies, each with the indexes that its controllers need: no reconcile ever lists. */
import type { Secret } from '../../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import type { Role } from '../../../api/kubernetes/rbac.ts';
import { ClusterRoleBindings, RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import { annotations, configMapNames, labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import {
  BundleDeployments,
  ClusterGroups,
  ClusterRegistrations,
  ClusterRegistrationTokens,
  Clusters,
} from '../../../api/fleet/kinds.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { Cache } from '../../kube/cache.ts';
import type { Controller } from '../../kube/controller.ts';
import type { Manager } from '../../kube/manager.ts';
import { isOneUse } from './token-objects.ts';

/** Names of the indexes. */
export const indexes = {
  /** Cluster, ClusterRegistration: `namespace/clientID`. */
  identity: 'identity',
  /** ClusterRegistration: `namespace/clusterName` of its status. Namespace, Secret: the Cluster it belongs to. */
  cluster: 'cluster',
  /** Cluster: `namespace/name` of its kubeconfig Secret. */
  kubeconfig: 'kubeconfig',
  /** ServiceAccount, Secret: `namespace/name` of the ClusterRegistration it was made for. */
  request: 'request',
  /** Role, RoleBinding: the account that may read answers by it, `namespace/name`. */
  reader: 'reader',
  /** ClusterRegistrationToken for one use: its namespace. */
  oneUse: 'oneUse',
  /** Role: names of the answers that may be read by it. */
  answer: 'answer',
} as const;

/** `namespace/clientID`: the key under which requests of one cluster meet. */
export function identityKey(namespace: string, clientID: string | null | undefined): string {
  return `${namespace}/${clientID ?? ''}`;
}

/** Where a Cluster's kubeconfig is, if it has one. */
export function kubeconfigKey(cluster: Cluster): string | undefined {
  const name = cluster.spec?.kubeConfigSecret;
  if (!name) return undefined;
  return `${cluster.spec?.kubeConfigSecretNamespace || (cluster.metadata.namespace ?? '')}/${name}`;
}

/** `namespace/name` of the Cluster that a namespace, ServiceAccount or Secret of the hub belongs to. */
export function clusterOf({ metadata }: KubeObject): string | undefined {
  const namespace = metadata.annotations?.[annotations.clusterNamespace];
  const name = metadata.annotations?.[annotations.cluster] ?? metadata.labels?.[labels.cluster];
  return namespace && name ? `${namespace}/${name}` : undefined;
}

/** `namespace/name` of the request that a ServiceAccount or Secret was made for. */
export function requestOf({ metadata }: KubeObject): string | undefined {
  const namespace = metadata.annotations?.[annotations.clusterRegistrationNamespace];
  const name = metadata.annotations?.[annotations.clusterRegistration];
  return namespace && name ? `${namespace}/${name}` : undefined;
}

/** `namespace/name` of the account that a Role or RoleBinding lets read answers; none for other rights. */
export function readerOf({ metadata }: KubeObject): string[] {
  return list(metadata.annotations?.[annotations.serviceAccount]);
}

/** Names that the rules of a Role list. */
export function namesIn({ rules }: Role): string[] {
  return (rules ?? []).flatMap((rule) => rule.resourceNames ?? []);
}

const list = (value: string | undefined): string[] => (value === undefined ? [] : [value]);

/** What is in a Secret stays out of memory: a hub that is read out holds no credential of its clusters. */
export function withoutData(secret: Secret): Secret {
  const { apiVersion, kind, metadata, type } = secret;
  return { apiVersion, kind, metadata, ...(type === undefined ? {} : { type }) };
}

/** Whose rights they are is all that is asked; what they say is fixed by admission policy. */
function metadataOnly<T extends KubeObject>({ apiVersion, kind, metadata }: T): T {
  const { name, namespace, uid, resourceVersion, annotations: notes } = metadata;
  const kept = { name, uid, resourceVersion, annotations: notes, ...(namespace === undefined ? {} : { namespace }) };
  return { apiVersion, kind, metadata: kept } as T;
}

function identityOfCluster(cluster: Cluster): string[] {
  // a Cluster without clientID is waiting for one; nothing may be found by the empty one
  return cluster.spec?.clientID ? [identityKey(cluster.metadata.namespace ?? '', cluster.spec.clientID)] : [];
}

function clusterOfRequest(request: ClusterRegistration): string[] {
  const name = request.status?.clusterName;
  return name ? [`${request.metadata.namespace ?? ''}/${name}`] : [];
}

export type HubCaches = ReturnType<typeof createHubCaches>;

/** Registers the caches with the manager, which starts them. */
export function createHubCaches(manager: Manager, namespaces: { system: string; registration: string }) {
  const managed = `${labels.managed}=true`;
  return {
    clusters: manager.cache(Clusters, {
      indexers: { [indexes.identity]: identityOfCluster, [indexes.kubeconfig]: (c) => list(kubeconfigKey(c)) },
    }),
    tokens: manager.cache(ClusterRegistrationTokens, {
      indexers: { [indexes.oneUse]: (t) => (isOneUse(t) ? [t.metadata.namespace ?? ''] : []) },
    }),
    requests: manager.cache(ClusterRegistrations, {
      indexers: {
        [indexes.identity]: (r) => [identityKey(r.metadata.namespace ?? '', r.spec?.clientID)],
        [indexes.cluster]: clusterOfRequest,
      },
    }),
    groups: manager.cache(ClusterGroups),
    /** Cluster namespaces. */
    namespaces: manager.cache(Namespaces, {
      labelSelector: managed,
      indexers: { [indexes.cluster]: (n) => list(clusterOf(n)) },
    }),
    /** Accounts of tokens and of requests. */
    serviceAccounts: manager.cache(ServiceAccounts, {
      labelSelector: managed,
      indexers: { [indexes.request]: (a) => list(requestOf(a)) },
    }),
    /** Answers to requests. */
    credentials: manager.cache(Secrets, {
      namespace: namespaces.registration,
      transform: withoutData,
      indexers: { [indexes.cluster]: (s) => list(clusterOf(s)), [indexes.request]: (s) => list(requestOf(s)) },
    }),
    /** Who may read which answer. */
    readerRoles: manager.cache(Roles, {
      namespace: namespaces.registration,
      labelSelector: managed,
      indexers: { [indexes.reader]: readerOf, [indexes.answer]: namesIn },
    }),
    /** Rights of granted requests, and of readers. */
    bindings: manager.cache(RoleBindings, {
      labelSelector: managed,
      transform: metadataOnly,
      indexers: { [indexes.reader]: readerOf },
    }),
    clusterBindings: manager.cache(ClusterRoleBindings, { labelSelector: managed, transform: metadataOnly }),
    /** What there is to deploy, for whom. */
    deployments: manager.cache(BundleDeployments, { transform: metadataOnly }),
    config: manager.cache(ConfigMaps, {
      namespace: namespaces.system,
      fieldSelector: `metadata.name=${configMapNames.hub}`,
    }),
  };
}

/** Makes a controller wait until these caches are synced, without waking it for their events. */
export function needs(controller: Controller, ...caches: readonly Cache[]): void {
  for (const cache of caches) controller.watch(cache, { predicate: () => false });
}
