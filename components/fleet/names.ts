/** Names that the manifests fix and that hub, provider and tests refer to. No cdk8s, no schema code. */
import { clusterRoleNames } from '../../api/fleet/constants.ts';

/** The ClusterRoles that grants bind to. Their rules never change at run time, so binding to them is cheap. */
export const grantRoles = {
  /** Request ServiceAccount, in its cluster namespace: read bundles, report their status. */
  bundleDeployment: clusterRoleNames.bundleDeployment,
  /** Request ServiceAccount, cluster-wide: get a Content by name. */
  content: clusterRoleNames.content,
  /** Request ServiceAccount, in its workspace: report in the status of its Cluster (whose: policy agentStatus). */
  clusterStatus: 'muster-cluster-status',
  /** As bundleDeployment, for an agent of ours: may also issue itself its next short-lived token. */
  credentialRenewal: 'muster-credential-renewal',
  /** The hub itself, in each namespace that it keeps Secrets or Roles in. */
  hubNamespace: 'muster-hub-namespace',
  /** The hub itself, in each namespace that holds sources of clusters and is no workspace. */
  hubSource: 'muster-hub-source',
} as const;

/** Objects of the hub's own workload. */
export const hubNames = {
  deployment: 'muster-hub',
  serviceAccount: 'muster-hub',
  /** ClusterRole, its ClusterRoleBinding, and the Role and RoleBinding in the system namespace. */
  role: 'muster-hub',
  /** Lease of the hub's leader election, in the system namespace. */
  lease: 'muster-hub',
  /** RoleBinding to {@link grantRoles}.hubNamespace in each namespace. */
  namespaceBinding: 'muster-hub-namespace',
  /** Role and RoleBinding for the agent of the hub's own cluster, in that agent's namespace. */
  localAgent: 'muster-hub-local-agent',
  /** Role and RoleBinding in the workspace of the hub's own cluster. */
  bootstrap: 'muster-hub-bootstrap',
  /** Role and RoleBinding in the namespace of Argo CD. */
  argoCD: 'muster-hub-argocd',
} as const;

/** ValidatingAdmissionPolicies, each with a binding of the same name. */
export const policyNames = {
  /** Roles that the hub may write. */
  hubRoles: 'muster-hub-roles',
  /** Bindings that the hub may write. */
  hubBindings: 'muster-hub-bindings',
  /** Where the hub may write ServiceAccounts, their tokens and bindings. */
  hubScope: 'muster-hub-scope',
  /** Namespaces that the hub may make, change and delete. */
  hubNamespaces: 'muster-hub-namespaces',
  /** ClusterProfiles that the hub may write. */
  hubProfiles: 'muster-hub-profiles',
  /** Secrets that the hub may write in the namespace of Argo CD. */
  hubArgoCD: 'muster-hub-argocd',
  /** What the hub may change of the sources that rules register. */
  hubSources: 'muster-hub-sources',
  /** Which Clusters and ClusterGroups the hub may delete. */
  hubDeletions: 'muster-hub-deletions',
  /** Who may say that a Cluster was made for a source. */
  sourceMarks: 'muster-source-marks',
  /** What an agent may say in the status of its Cluster. */
  agentStatus: 'muster-agent-status',
  /** Whose tokens an agent may issue. */
  agentTokens: 'muster-agent-tokens',
} as const;

/** Label by which an administrator makes a namespace a workspace; value `true`. The hub cannot set it. */
export const workspaceLabel = 'muster.dev/workspace';

/** On the pod template: what has to restart the pod when it changes. */
export const podAnnotations = {
  /** Digest of the agent's ConfigMap; an agent reads it at its start. */
  config: 'muster.dev/config-hash',
  /** `spec.redeployAgentGeneration` of the Cluster. */
  redeploy: 'muster.dev/redeploy-generation',
} as const;

/** Ports of health and metrics endpoints when the environment names no other address. */
export const defaultPorts = { probe: 8081, metrics: 8080 } as const;

/** Field manager of everything that is applied from these manifests. */
export const fieldManager = 'muster';
