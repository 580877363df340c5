/**
 * Cluster of Cluster API, as far as muster reads it, in both versions of its contract. Everything is optional: what is
 * there depends on version and age, and nothing of it is muster's to write but one finalizer.
 */
import type { Condition } from '../conditions.ts';
import type { KubeObject, ResourceType } from '../resource.ts';

export interface ClusterAPICluster extends KubeObject {
  spec?: {
    paused?: boolean;
    topology?: {
      /** v1beta1. */
      class?: string;
      /** v1beta1; that of the Cluster when not given. */
      classNamespace?: string;
      /** v1beta2. */
      classRef?: { name?: string; namespace?: string };
      /** Kubernetes version. */
      version?: string;
    };
  };
  status?: {
    phase?: string;
    /** v1beta1. */
    controlPlaneReady?: boolean;
    /** v1beta2. */
    initialization?: { controlPlaneInitialized?: boolean };
    conditions?: Condition[];
  };
}

export const group = 'cluster.x-k8s.io';

const type = { group, kind: 'Cluster', plural: 'clusters', namespaced: true } as const;

/** Versions of its contract, newest first. */
export const ClusterAPIClusters: readonly ResourceType<ClusterAPICluster>[] = [
  { ...type, version: 'v1beta2' },
  { ...type, version: 'v1beta1' },
];

/** Cluster API: its contract for conditions of a Cluster. */
export const controlPlaneInitialized = 'ControlPlaneInitialized';

/** On any object of Cluster API: controllers leave it alone (Cluster API: labels and annotations). */
export const pausedAnnotation = 'cluster.x-k8s.io/paused';

/** Name of the Secret with the kubeconfig of a Cluster, in its namespace (Cluster API: util/secret). */
export function kubeconfigSecretName(cluster: string): string {
  return `${cluster}-kubeconfig`;
}

/** Key of the kubeconfig in that Secret. */
export const kubeconfigSecretKey = 'value';
