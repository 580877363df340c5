/** Roles and bindings as constructs; cluster-scoped exactly when no namespace is given. */
import type { Construct } from 'constructs';
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';
import { addObject } from '../add-object.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

export interface RoleOptions {
  readonly name: string;
  /** Absent: a ClusterRole. */
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly PolicyRule[];
}

export function addRole(scope: Construct, { name, namespace, labels, rules }: RoleOptions): void {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  addObject(scope, `${kind}:${namespace ?? ''}:${name}`, {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels },
    rules,
  });
}

export interface BindingOptions {
  readonly name: string;
  /** Absent: a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

export function addBinding(scope: Construct, { name, namespace, labels, roleRef, subjects }: BindingOptions): void {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  addObject(scope, `${kind}:${namespace ?? ''}:${name}`, {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels },
    roleRef: { apiGroup: group, kind: roleRef.kind, name: roleRef.name },
    subjects,
  });
}
