/** Every kind that the manifests contain, so that whoever applies them can address them. No cdk8s, no schema code. */
import { MusterError } from '../../api/errors.ts';
import { ClusterGroups, ClusterRegistrationTokens, Clusters, GitRepos } from '../../api/fleet/kinds.ts';
import { ConfigMaps, Namespaces, Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { ClusterRoleBindings, ClusterRoles, RoleBindings, Roles } from '../../api/kubernetes/rbac.ts';
import { RegistrationRules } from '../../api/muster/kinds.ts';
import { CustomResourceDefinitions, Deployments } from '../../api/kubernetes/workloads.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { ExternalSecrets, SealedSecrets } from '../secrets/kinds.ts';

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

export const AdmissionPolicies: ResourceType = {
  ...admission,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
};
export const AdmissionPolicyBindings: ResourceType = {
  ...admission,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
};
export const PriorityClasses: ResourceType = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  namespaced: false,
};
export const NetworkPolicies: ResourceType = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
};
export const PodDisruptionBudgets: ResourceType = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};

/**
 * In the order in which to apply them; delete in the opposite one. What others refer to comes first; policies before
 * the rights that they fence; rights before the credential and the workload that use them. What a hub answers comes last.
 */
export const manifestKinds: readonly ResourceType[] = [
  CustomResourceDefinitions,
  Namespaces,
  AdmissionPolicies,
  AdmissionPolicyBindings,
  PriorityClasses,
  ServiceAccounts,
  ClusterRoles,
  ClusterRoleBindings,
  Roles,
  RoleBindings,
  NetworkPolicies,
  ConfigMaps,
  Secrets,
  ExternalSecrets,
  SealedSecrets,
  PodDisruptionBudgets,
  Deployments,
  ClusterRegistrationTokens,
  Clusters,
  ClusterGroups,
  RegistrationRules,
  GitRepos,
];

const byKind = new Map(manifestKinds.map((type, place) => [type.kind, { type, place }]));

/** How to address an object of the manifests. Throws INTERNAL for a kind that they do not contain. */
export function resourceTypeOf(object: Pick<KubeObject, 'kind'>): ResourceType {
  return entry(object).type;
}

/** Position of the object's kind in {@link manifestKinds}. Throws as {@link resourceTypeOf}. */
export function placeOf(object: Pick<KubeObject, 'kind'>): number {
  return entry(object).place;
}

function entry({ kind }: Pick<KubeObject, 'kind'>) {
  const found = byKind.get(kind);
  if (found === undefined) throw new MusterError('INTERNAL', `${kind} has no place in the order of manifests`);
  return found;
}
