/** RBAC kinds, `rbac.authorization.k8s.io/v1`. */
import type { KubeObject, ResourceType } from '../resource.ts';

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export interface Subject {
  kind: 'ServiceAccount' | 'User' | 'Group';
  name: string;
  namespace?: string;
  apiGroup?: string;
}

export interface RoleRef {
  apiGroup: 'rbac.authorization.k8s.io';
  kind: 'Role' | 'ClusterRole';
  name: string;
}

export interface Role extends KubeObject {
  rules?: PolicyRule[];
}

export interface RoleBinding extends KubeObject {
  roleRef: RoleRef;
  subjects?: Subject[];
}

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;

export const Roles: ResourceType<Role> = { ...rbac, kind: 'Role', plural: 'roles', namespaced: true };
export const RoleBindings: ResourceType<RoleBinding> = {
  ...rbac,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
};
export const ClusterRoles: ResourceType<Role> = {
  ...rbac,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
};
export const ClusterRoleBindings: ResourceType<RoleBinding> = {
  ...rbac,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};
