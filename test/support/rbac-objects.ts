/** Objects with nothing in them but what a test of rights is about. */
import type { PolicyRule, RoleRef, Subject } from '../../api/kubernetes/rbac.ts';
import type { KubeObject } from '../../api/resource.ts';

export const rbac = 'rbac.authorization.k8s.io';
export const sa = (namespace: string, name = 'agent'): Subject => ({ kind: 'ServiceAccount', namespace, name });
export const namespaceOf = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
export const account = (namespace: string, name = 'agent'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace },
});
export function role(namespace: string, ...rules: PolicyRule[]): KubeObject {
  return { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'test', namespace }, ...{ rules } };
}
export function bind(
  namespace: string | undefined,
  kind: RoleRef['kind'],
  name: string,
  ...subjects: Subject[]
): KubeObject {
  const roleRef: RoleRef = { apiGroup: rbac, kind, name };
  return {
    apiVersion: `${rbac}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name: `test-${name}`, ...(namespace === undefined ? {} : { namespace }) },
    ...{ roleRef, subjects },
  };
}
