/**
 * What the hub may do, and the static roles that it grants from. Every line has its reason.
 *
 * Creating a Role costs the API server 80–98 ms when it has to check that the creator holds every right in it, and
 * 2–3 ms when the creator may `escalate` and `bind`. So the hub has both verbs, and is fenced twice: RBAC limits where
 * (`escalate` only in namespaces bound to muster-hub-namespace) and which ClusterRoles (`bind` by resourceNames), and
 * admission policies limit what (hub-policies.ts). RBAC cannot match namespaces by pattern: rights that must hold in
 * namespaces that are yet to be made, but are writes, are cluster-wide here and limited by policy; reading Secrets, which
 * no policy can limit, is never cluster-wide.
 */
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';
import { group as fleet, configMapNames } from '../../api/fleet/constants.ts';
import { clusterProfileDefinition } from '../../api/multicluster/kinds.ts';
import { group as multicluster } from '../../api/multicluster/constants.ts';
import { sourceRules } from './hub-sources.ts';
import { grantRoles } from './names.ts';

const core = '';
const rbac = 'rbac.authorization.k8s.io';
const read = ['get', 'list', 'watch'];
const write = ['create', 'patch', 'update', 'delete'];

/** The hub's ClusterRole. */
export const hubClusterRules: readonly PolicyRule[] = [
  // One cache per kind over all workspaces: a Cluster is found from its namespace's annotations, a request by clientID.
  {
    apiGroups: [fleet],
    resources: [
      'clusters',
      'clusterregistrationtokens',
      'clusterregistrations',
      'clustergroups',
      'bundles',
      'bundledeployments',
      'bundlenamespacemappings',
      'contents',
      'gitrepos',
    ],
    verbs: read,
  },
  // A request without a Cluster makes one; clientID, labels and finalizers are written.
  { apiGroups: [fleet], resources: ['clusters'], verbs: ['create', 'patch', 'update'] },
  // Import tokens are made for a Cluster and removed with it; tokens past their ttl are deleted.
  { apiGroups: [fleet], resources: ['clusterregistrationtokens'], verbs: write },
  // A request gets its Cluster as owner; one that a newer request of the same agent replaced is deleted.
  { apiGroups: [fleet], resources: ['clusterregistrations'], verbs: ['patch', 'update', 'delete'] },
  // Detaching a Cluster removes what was delivered to it, and its agent's bundle.
  { apiGroups: [fleet], resources: ['bundles', 'bundledeployments', 'contents'], verbs: write },
  // Conditions and counters.
  {
    apiGroups: [fleet],
    resources: [
      'clusters/status',
      'clusterregistrationtokens/status',
      'clusterregistrations/status',
      'clustergroups/status',
      'bundles/status',
      'bundledeployments/status',
      'contents/status',
    ],
    verbs: ['patch', 'update'],
  },
  // Owner references that block deletion need this where OwnerReferencesPermissionEnforcement is on (OpenShift).
  {
    apiGroups: [fleet],
    resources: ['clusters/finalizers', 'clusterregistrations/finalizers', 'clusterregistrationtokens/finalizers'],
    verbs: ['update'],
  },
  // Cluster namespaces come and go; kube-system's UID tells the hub's own cluster. Writes: policy muster-hub-namespaces.
  { apiGroups: [core], resources: ['namespaces'], verbs: [...read, ...write] },
  // One account per token and per request. Where: policy muster-hub-scope.
  { apiGroups: [core], resources: ['serviceaccounts'], verbs: [...read, ...write] },
  // Bounded tokens: of an import, and of agents that renew theirs. Where: policy muster-hub-scope.
  { apiGroups: [core], resources: ['serviceaccounts/token'], verbs: ['create'] },
  // A request's rights in its cluster namespace. What: policy muster-hub-bindings; where: policy muster-hub-scope.
  { apiGroups: [rbac], resources: ['rolebindings'], verbs: [...read, ...write] },
  // A request's right to get Contents, which have no namespace. What: policy muster-hub-bindings.
  { apiGroups: [rbac], resources: ['clusterrolebindings'], verbs: [...read, ...write] },
  // Binding without holding the rights, for exactly these roles.
  { apiGroups: [rbac], resources: ['clusterroles'], resourceNames: Object.values(grantRoles), verbs: ['bind'] },
  // Proof that a grant is effective before its credential is published.
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  // Registered clusters are published where the kind is installed. Whose profiles: policy muster-hub-profiles.
  { apiGroups: [multicluster], resources: ['clusterprofiles'], verbs: [...read, 'create', 'patch', 'delete'] },
  { apiGroups: [multicluster], resources: ['clusterprofiles/status'], verbs: ['patch'] },
  // Whether kinds of others are installed, and in which version; by name, no other definitions.
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: [clusterProfileDefinition],
    verbs: read,
  },
  ...sourceRules,
  // Why something is stuck, beside the object, in whichever namespace it is.
  { apiGroups: [core, 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];

/** The hub in its system namespace. */
export const hubSystemRules: readonly PolicyRule[] = [
  // Its configuration, reloaded when it changes.
  { apiGroups: [core], resources: ['configmaps'], resourceNames: [configMapNames.hub], verbs: read },
  // Leader election; also theirs, to refuse to start beside a running hub of Fleet.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'patch', 'update'] },
  // To see whether a hub of Fleet is installed here.
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] },
  // A Cluster's kubeconfig may be kept in the system namespace (Fleet: kubeConfigSecretNamespace).
  { apiGroups: [core], resources: ['secrets'], verbs: read },
];

/** ClusterRole muster-hub-namespace: the hub in a workspace, in the registration namespace, or in a cluster namespace. */
export const hubNamespaceRules: readonly PolicyRule[] = [
  // Kubeconfigs and values of tokens in workspaces, answers in the registration namespace, tokens in cluster namespaces.
  { apiGroups: [core], resources: ['secrets'], verbs: [...read, ...write] },
  // The rights of one token, of one agent on its own Cluster, of one reader on one Secret. What: policy muster-hub-roles.
  { apiGroups: [rbac], resources: ['roles'], verbs: [...read, ...write, 'escalate', 'bind'] },
];

/**
 * The hub in the namespace of the agent of its own cluster: what gives no rights. Accounts and roles of that agent come
 * with the hub's manifests, so the hub can run what they allow and nothing beyond (decision 7).
 */
export const localAgentRules: readonly PolicyRule[] = [
  // Bootstrap Secret, pull Secrets; the agent's credential goes when the agent goes. Watched by nobody.
  { apiGroups: [core], resources: ['secrets', 'configmaps'], verbs: ['get', ...write] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', ...write] },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: ['get', ...write] },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', ...write] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['delete'] },
];

/** The hub in the workspace of its own cluster. */
export const bootstrapRules: readonly PolicyRule[] = [
  // ClusterGroup default, which selects that cluster.
  { apiGroups: [fleet], resources: ['clustergroups'], verbs: ['create', 'patch'] },
  // GitRepo bootstrap, when the configuration names a repository.
  { apiGroups: [fleet], resources: ['gitrepos'], verbs: ['create', 'patch', 'delete'] },
];

/** ClusterRole fleet-bundle-deployment, bound in a cluster namespace (Fleet: data of the agent management controller). */
export const bundleDeploymentRules: readonly PolicyRule[] = [
  // What to deploy: list and watch cannot be limited to names that are not known yet.
  { apiGroups: [fleet], resources: ['bundledeployments'], verbs: read },
  // What became of it. No `update`: agents patch since 0.11, and a whole-status PUT would undo the hub's display field.
  { apiGroups: [fleet], resources: ['bundledeployments/status'], verbs: ['patch'] },
  // Values of a bundle, and objects copied downstream with it, by name.
  { apiGroups: [core], resources: ['secrets', 'configmaps'], verbs: ['get'] },
];

/** ClusterRole fleet-content. */
export const contentRules: readonly PolicyRule[] = [
  // By name only: names are hashes of what is inside, so who does not know a Content's name cannot find it.
  { apiGroups: [fleet], resources: ['contents'], verbs: ['get'] },
];

/** ClusterRole muster-cluster-status, bound in a workspace. */
export const clusterStatusRules: readonly PolicyRule[] = [
  // The heartbeat. Which Cluster, and which fields: policy muster-agent-status, narrower than a Role by name could be.
  { apiGroups: [fleet], resources: ['clusters/status'], verbs: ['patch'] },
];

/** ClusterRole muster-credential-renewal, bound in a cluster namespace. */
export const credentialRenewalRules: readonly PolicyRule[] = [
  // All that other agents may do: one binding for each registration instead of two.
  ...bundleDeploymentRules,
  // The agent's next token. Whose and for how long: policy muster-agent-tokens.
  { apiGroups: [core], resources: ['serviceaccounts/token'], verbs: ['create'] },
  // Word from the hub: on the agent's account, which it watches. Other accounts of this namespace are its own former ones.
  { apiGroups: [core], resources: ['serviceaccounts'], verbs: ['watch'] },
];
