/** From a chart to plain objects: checked, in the order in which to apply them, the same bytes for the same input. */
import { App } from 'cdk8s';
import type { Chart } from 'cdk8s';
import { MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';

/**
 * Every kind that the charts make, in the order in which to apply it, and its scope. What others refer to comes first;
 * policies before the rights that they fence; rights before the credential and the workload that use them.
 */
const kinds: readonly (readonly [kind: string, scope: 'cluster' | 'namespaced'])[] = [
  ['CustomResourceDefinition', 'cluster'],
  ['Namespace', 'cluster'],
  ['ValidatingAdmissionPolicy', 'cluster'],
  ['ValidatingAdmissionPolicyBinding', 'cluster'],
  ['PriorityClass', 'cluster'],
  ['ServiceAccount', 'namespaced'],
  ['ClusterRole', 'cluster'],
  ['ClusterRoleBinding', 'cluster'],
  ['Role', 'namespaced'],
  ['RoleBinding', 'namespaced'],
  ['NetworkPolicy', 'namespaced'],
  ['ConfigMap', 'namespaced'],
  ['Secret', 'namespaced'],
  ['PodDisruptionBudget', 'namespaced'],
  ['Deployment', 'namespaced'],
];
const rank = new Map(kinds.map(([kind], index) => [kind, index]));
const scopes = new Map(kinds);

/** Scope of a kind that the charts make; undefined for any other. */
export function scopeOf(kind: string): 'cluster' | 'namespaced' | undefined {
  return scopes.get(kind);
}

/** Builds one chart in an app of its own and returns its objects. Cheap enough to call once per cluster. */
export function synthesize(build: (app: App) => Chart): KubeObject[] {
  const objects = build(new App()).toJson() as KubeObject[];
  objects.forEach(check);
  return objects.sort(compare);
}

/** A fault here is ours, not the caller's: cdk8s would write a chart's namespace on cluster-scoped objects, too. */
function check(object: KubeObject): void {
  const { name, namespace } = object.metadata;
  const where = `${object.kind} ${namespace ?? ''}/${name ?? ''}`;
  const scope = scopeOf(object.kind);
  if (scope === undefined)
    throw new MusterError('INTERNAL', 'this kind has no place in the order of manifests', { where });
  if (!name) throw new MusterError('INTERNAL', 'manifest without a name', { where });
  if (scope === 'cluster' && namespace !== undefined)
    throw new MusterError('INTERNAL', 'cluster-scoped manifest with a namespace', { where });
  if (scope === 'namespaced' && !namespace)
    throw new MusterError('INTERNAL', 'manifest without its namespace', { where });
}

const place = (object: KubeObject): number => rank.get(object.kind) ?? kinds.length;
const path = (object: KubeObject): string => `${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;

function compare(a: KubeObject, b: KubeObject): number {
  if (place(a) !== place(b)) return place(a) - place(b);
  return path(a) < path(b) ? -1 : path(a) > path(b) ? 1 : 0;
}
