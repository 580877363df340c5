/** What Argo CD is given in a downstream cluster: an account of its own, and the rights that the configuration names. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { labels, managedByMuster } from '../../api/fleet/constants.ts';
import type { KubeObject } from '../../api/resource.ts';
import { addObject } from '../add-object.ts';
import { argoCDAccessLabel, argoCDAccessNamespace } from './argocd-names.ts';
import { addBinding } from './chart-rbac.ts';
import { synthesize } from './synthesize.ts';

export interface ArgoCDAccessProps {
  /** Of account and bindings: one for each hub and Cluster, so that two that lead to one cluster do not share rights. */
  readonly name: string;
  /** ClusterRole that exists downstream. */
  readonly clusterRole: string;
  /** Namespaces that it is bound in. Absent: the whole cluster. */
  readonly namespaces?: readonly string[];
}

class ArgoCDAccess extends Chart {
  constructor(scope: Construct, id: string, { name, clusterRole, namespaces }: ArgoCDAccessProps) {
    super(scope, id);
    const common = { [labels.managedBy]: managedByMuster };
    const own = { ...common, [argoCDAccessLabel]: name };
    addObject(this, 'namespace', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: argoCDAccessNamespace, labels: common },
    });
    addObject(this, 'account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: argoCDAccessNamespace, labels: own },
      // Its token is for Argo CD; no pod has a use for it.
      automountServiceAccountToken: false,
    });
    const subjects = [{ kind: 'ServiceAccount', name, namespace: argoCDAccessNamespace }];
    const roleRef = { kind: 'ClusterRole', name: clusterRole };
    for (const namespace of namespaces === undefined ? [undefined] : new Set(namespaces)) {
      addBinding(this, { name, ...(namespace === undefined ? {} : { namespace }), labels: own, roleRef, subjects });
    }
  }
}

/** Namespace, account and bindings, in the order in which to apply them. */
export function synthArgoCDAccess(props: ArgoCDAccessProps): KubeObject[] {
  return synthesize((app) => new ArgoCDAccess(app, 'argocd-access', props));
}
