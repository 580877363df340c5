/** Clusters of Cluster API as sources. Pure. */
import { isTrue, reasons } from '../../../api/conditions.ts';
import type { ClusterAPICluster } from '../../../api/cluster-api/cluster.ts';
import {
  controlPlaneInitialized,
  kubeconfigSecretKey,
  kubeconfigSecretName,
  pausedAnnotation,
} from '../../../api/cluster-api/cluster.ts';
import { given } from '../../../api/given.ts';
import type { SourceKubeconfig, Source } from './source.ts';
import { sourceBase } from './source.ts';

export function fromClusterAPI(cluster: ClusterAPICluster): Source {
  const { spec = {}, status = {} } = cluster;
  const base = sourceBase('Cluster', cluster);
  const { class: className, classNamespace, classRef, version } = spec.topology ?? {};
  const name = classRef?.name || className;
  return {
    ...base,
    ...(name ? { class: { name, namespace: classRef?.namespace || classNamespace || base.namespace } } : {}),
    ...(version ? { version } : {}),
    ...(isReady(status) ? {} : { notReady: waiting(status.phase) }),
    paused: spec.paused === true || pausedAnnotation in base.annotations,
    object: cluster,
  };
}

/** v1beta2 says it in `initialization`; v1beta1 in a condition, and later in `controlPlaneReady`. None of them turns back. */
function isReady(status: NonNullable<ClusterAPICluster['status']>): boolean {
  return (
    status.initialization?.controlPlaneInitialized === true ||
    status.controlPlaneReady === true ||
    isTrue(status.conditions, controlPlaneInitialized)
  );
}

function waiting(phase: string | undefined) {
  const now = phase ? `; it is ${phase}` : '';
  return {
    reason: reasons.waitingForControlPlane,
    message: `waiting until the control plane of the cluster is initialized${now}`,
  };
}

/** Its Secret, as the contract of Cluster API names it. */
export function clusterAPIKubeconfig({ namespace, name }: Pick<Source, 'namespace' | 'name'>): SourceKubeconfig {
  return { namespace, name: kubeconfigSecretName(name), key: kubeconfigSecretKey };
}

/** What is kept of one in memory. */
export function slimCluster({ apiVersion, kind, metadata, spec, status }: ClusterAPICluster): ClusterAPICluster {
  const { paused, topology } = spec ?? {};
  const { phase, controlPlaneReady, initialization, conditions } = status ?? {};
  const { class: className, classNamespace, classRef, version } = topology ?? {};
  const initialized = conditions?.filter(({ type }) => type === controlPlaneInitialized);
  return {
    apiVersion,
    kind,
    metadata,
    spec: given({ paused, topology: topology && given({ class: className, classNamespace, classRef, version }) }),
    status: given({ phase, controlPlaneReady, initialization, conditions: initialized }),
  };
}
