/** Fixed texts of the cluster inventory of SIG Multicluster (KEP-4322, KEP-5339, KEP-2149). No schema code. */

export const group = 'multicluster.x-k8s.io';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

/** `spec.clusterManager.name` of what this hub publishes. The field cannot be changed, so it also tells whose a profile is. */
export const clusterManager = 'muster';

export const labels = {
  /** On a ClusterProfile: name of its cluster manager, so that profiles can be listed by it. */
  clusterManager: 'x-k8s.io/cluster-manager',
  /** On a namespace: the ClusterSet that the clusters in it belong to. */
  clusterSet: 'multicluster.x-k8s.io/clusterset',
} as const;

export const conditionTypes = {
  /** Defined by the inventory API: False when the control plane is known to be ill, Unknown when nobody can tell. */
  controlPlaneHealthy: 'ControlPlaneHealthy',
  /** As Open Cluster Management has it: the cluster is registered with its manager. */
  joined: 'Joined',
} as const;

/** Names in `status.properties`. */
export const properties = {
  /** KEP-2149: identity of the cluster within its ClusterSet. */
  clusterId: 'cluster.clusterset.k8s.io',
  /** KEP-2149: its ClusterSet. */
  clusterSet: 'clusterset.k8s.io',
  /** muster's own: number of nodes. */
  nodes: 'muster.dev/nodes',
} as const;

/** Names in `status.accessProviders`: plugins that the inventory API's repository ships, by which Secret they read. */
export const accessProviders = {
  /** A kubeconfig in a Secret that the extension names. */
  kubeconfig: 'kubeconfig-secretreader',
  /** Key `token` of a Secret named like the cluster, in the consumer's own namespace. */
  token: 'secretreader',
} as const;

/** Name of the extension of an access provider that is handed to its plugin (Kubernetes: client authentication API). */
export const execExtension = 'client.authentication.k8s.io/exec';
