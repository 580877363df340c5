/** Fixed texts of the Fleet wire protocol: labels, annotations, Secret types, names and defaults. No schema code. */

/** API group and version of all kinds. */
export const group = 'fleet.cattle.io';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

export const labels = {
  /** `true` on what the hub made and may remove. */
  managed: 'fleet.cattle.io/managed',
  cluster: 'fleet.cattle.io/cluster',
  clusterNamespace: 'fleet.cattle.io/cluster-namespace',
  /** On a ClusterRegistration: name of the token that made it, may be empty (agents since 0.16). */
  registrationToken: 'fleet.cattle.io/registration-token',
  /** In clusterLabels of a request: name of the pod that sent it. */
  createdByAgentPod: 'fleet.cattle.io/created-by-agent-pod',
  /** Hands a Cluster or request to another manager: the hub skips it. */
  clusterManagement: 'fleet.cattle.io/cluster-management',
  /** On a Cluster: its agent is not kept up to date by a bundle. */
  nonManagedAgent: 'fleet.cattle.io/non-managed-agent',
  contentName: 'fleet.cattle.io/content-name',
  bundleName: 'fleet.cattle.io/bundle-name',
  bundleNamespace: 'fleet.cattle.io/bundle-namespace',
  repoName: 'fleet.cattle.io/repo-name',
  commit: 'fleet.cattle.io/commit',
  helmName: 'fleet.cattle.io/fleet-helm-name',
  createdByUserId: 'fleet.cattle.io/created-by-user-id',
  bundleDeployment: 'fleet.cattle.io/bundledeployment',
  bundleInternalSecret: 'fleet.cattle.io/bundle-internal-secret',
  shardRef: 'fleet.cattle.io/shard-ref',
  shardId: 'fleet.cattle.io/shard-id',
  shardDefault: 'fleet.cattle.io/shard-default',
  /** Set of objects applied together (wrangler). */
  objectSetHash: 'objectset.rio.cattle.io/hash',
  /** Kubernetes: the program that owns an object. */
  managedBy: 'app.kubernetes.io/managed-by',
} as const;

export const annotations = {
  /** On a cluster namespace and a request's ServiceAccount. */
  cluster: 'fleet.cattle.io/cluster',
  clusterNamespace: 'fleet.cattle.io/cluster-namespace',
  /** On a request's ServiceAccount: back to the request. */
  clusterRegistration: 'fleet.cattle.io/cluster-registration',
  clusterRegistrationNamespace: 'fleet.cattle.io/cluster-registration-namespace',
  /** On the hub's ConfigMap: version that wrote it; a running hub takes changes of its own version only. */
  version: 'fleet.cattle.io/version',
  bundleId: 'fleet.cattle.io/bundle-id',
  agentNamespace: 'fleet.cattle.io/agent-namespace',
  serviceAccount: 'fleet.cattle.io/service-account',
  keepResources: 'fleet.cattle.io/keep-resources',
  commit: 'fleet.cattle.io/commit',
  /** Rancher's name for people; also matched by `clusterName` of a target. */
  displayName: 'management.cattle.io/cluster-display-name',
  objectSetId: 'objectset.rio.cattle.io/id',
  objectSetOwnerGvk: 'objectset.rio.cattle.io/owner-gvk',
  objectSetOwnerName: 'objectset.rio.cattle.io/owner-name',
  objectSetOwnerNamespace: 'objectset.rio.cattle.io/owner-namespace',
  /** Kubernetes: the ServiceAccount that a token Secret is for. */
  serviceAccountName: 'kubernetes.io/service-account.name',
  /** On a ClusterRegistration of our agent, value `rotating`: it renews its token itself, so a short-lived one will do. */
  credential: 'muster.dev/credential',
  /** On a bootstrap Secret: the request that our agent sends for it, so that a killed agent resumes that one. */
  registrationRequest: 'muster.dev/registration-request',
  /** On a ClusterRegistrationToken, value `true`: it registers one cluster and ends with that one's first heartbeat. */
  oneUse: 'muster.dev/one-use',
  /** On a bootstrap Secret, value `true`: it is declared somewhere, so the agent leaves it there when it has served. */
  keep: 'muster.dev/keep',
  /** On an object that Pulumi manages: project/stack that it belongs to; no other stack takes it over. */
  owner: 'muster.dev/owner',
  /** On a Cluster: where its hub is now (hub-address.ts), for an agent that registered when it was elsewhere. */
  hubAddress: 'muster.dev/hub-address',
  /** On the account of a registered agent: revision of the address above, so that the agent, which watches it, asks at once. */
  hubAddressRevision: 'muster.dev/hub-address-revision',
  /** On a Cluster whose agent moves: namespaces downstream that an agent may be in, with blanks between. */
  agentNamespaces: 'muster.dev/agent-namespaces',
  /** On a Cluster that the hub made because none was declared: the request that it was made for, which tells the two apart. */
  requestedBy: 'muster.dev/requested-by',
  /** On a CustomResourceDefinition that is being deleted: how often its API server was reminded of that. */
  removalReminder: 'muster.dev/removal-reminder',
  /** On any object: hash of what muster last applied, where the object itself cannot tell. */
  appliedHash: 'muster.dev/applied-hash',
} as const;

/** Value of {@link annotations.credential}. */
export const rotatingCredential = 'rotating';

/** Value of {@link labels.managedBy} on everything that muster makes. */
export const managedByMuster = 'muster';

export const finalizers = {
  cluster: 'fleet.cattle.io/cluster-finalizer',
  bundle: 'fleet.cattle.io/bundle-finalizer',
  bundleDeployment: 'fleet.cattle.io/bundle-deployment-finalizer',
  gitRepo: 'fleet.cattle.io/gitrepo-finalizer',
} as const;

export const secretTypes = {
  registrationValues: 'fleet.cattle.io/cluster-registration-values',
  agentCredential: 'fleet.cattle.io/agent-credential',
  bundleValues: 'fleet.cattle.io/bundle-values/v1alpha1',
  bundleDeploymentValues: 'fleet.cattle.io/bundle-deployment/v1alpha1',
  bundleOciStorage: 'fleet.cattle.io/bundle-oci-storage/v1alpha1',
  bundleHelmOpsAccess: 'fleet.cattle.io/bundle-helmops-access/v1alpha1',
  /** Kubernetes. */
  serviceAccountToken: 'kubernetes.io/service-account-token',
  opaque: 'Opaque',
} as const;

/** Secrets with fixed names; both live in the agent's namespace at the edge. */
export const secretNames = { agent: 'fleet-agent', bootstrap: 'fleet-agent-bootstrap' } as const;

export const configMapNames = {
  /** Hub, system namespace. */
  hub: 'fleet-controller',
  /** Edge, agent namespace. */
  agent: 'fleet-agent',
} as const;

/** Key of both ConfigMaps. */
export const configKey = 'config';

/** Key of the edge's ConfigMap that tells a registered agent of ours where its hub is (hub-address.ts). */
export const hubAddressKey = 'hub';

/** Keys of Secrets. */
export const secretKeys = {
  /** Values Secret of a token: a whole YAML file. */
  values: 'values',
  /** Kubeconfig Secret of a Cluster. */
  kubeconfig: 'value',
  apiServerURL: 'apiServerURL',
  apiServerCA: 'apiServerCA',
  /** Credential Secret on the hub. */
  token: 'token',
  deploymentNamespace: 'deploymentNamespace',
  clusterNamespace: 'clusterNamespace',
  clusterName: 'clusterName',
  systemNamespace: 'systemNamespace',
  /** Secret `fleet-agent` at the edge. */
  agentKubeconfig: 'kubeconfig',
} as const;

/** Static ClusterRoles of the hub that grants bind to. */
export const clusterRoleNames = { bundleDeployment: 'fleet-bundle-deployment', content: 'fleet-content' } as const;

export const agentNames = {
  deployment: 'fleet-agent',
  serviceAccount: 'fleet-agent',
  /** Lease of the agent's leader election; theirs and ours share it, so that both never run together. */
  lease: 'fleet-agent',
  networkPolicy: 'default-allow-all',
  priorityClass: 'fleet-agent-priority-class',
  podDisruptionBudget: 'fleet-agent-pod-disruption-budget',
  /** Id of the set of objects that an import applies. */
  objectSet: 'fleet-agent-bootstrap',
} as const;

/** Prefix by which the API server names requests. */
export const requestGenerateName = 'request-';

export const defaults = {
  systemNamespace: 'cattle-fleet-system',
  legacySystemNamespace: 'fleet-system',
  agentNamespace: 'cattle-fleet-system',
  localNamespace: 'fleet-local',
  /** Namespace of the agent of the hub's own cluster (Fleet: chart value bootstrap.agentNamespace). */
  localAgentNamespace: 'cattle-fleet-local-system',
  /** Name of the hub's own cluster. */
  localCluster: 'local',
  defaultNamespace: 'fleet-default',
  /** Namespace whose UID identifies a cluster that was given no clientID. */
  clientIdNamespace: 'kube-system',
  /** Go durations, as in the configuration. */
  checkinInterval: '15m',
  garbageCollectionInterval: '15m',
  importTokenTtl: '12h',
  agentTLSMode: 'system-store',
  /** Reconciles at a time of the agent, as text (environment). */
  agentWorkers: '50',
} as const;
