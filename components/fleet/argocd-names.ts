/** Names around Argo CD. No cdk8s, no schema code. */
import { createHash } from 'node:crypto';
import { clusterNamespace } from '../../api/fleet/names.ts';

/** Namespace downstream with the accounts of Argo CD: apart from the agent's, which moves and goes on its own. */
export const argoCDAccessNamespace = 'muster-argocd';

/** On account and bindings downstream: the name of the account, so that all of one Cluster can be found. */
export const argoCDAccessLabel = 'muster.dev/argocd';

/** On the Secret in Argo CD's namespace: `namespace/name` of the Cluster. */
export const argoCDClusterAnnotation = 'muster.dev/cluster';

/** Labels of the Secret (Argo CD: declarative setup, clusters). */
export const argoCDSecretType = { key: 'argocd.argoproj.io/secret-type', value: 'cluster' } as const;

/** Account and bindings downstream: no two hubs, and no two Clusters of one, share a name in one cluster. */
export function argoCDAccessName(hubUid: string, clusterKey: string): string {
  return `${argoCDAccessNamespace}-${createHash('sha256').update(`${hubUid}/${clusterKey}`).digest('hex').slice(0, 12)}`;
}

/** Secret in Argo CD's namespace. Such names begin as those of Argo CD's own command do: `cluster-`. */
export function argoCDSecretName(namespace: string, name: string): string {
  return clusterNamespace(namespace, name);
}
