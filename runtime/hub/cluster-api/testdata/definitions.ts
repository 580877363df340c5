/** Definitions of Cluster API's Cluster and of ClusterProfile with the fields that are read, for tests on a real API server. */
import type { CustomResourceDefinition } from '../../../../api/kubernetes/workloads.ts';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const object = (properties: Record<string, unknown>) => ({ type: 'object', properties });
const conditions = {
  type: 'array',
  items: object({
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: text,
    observedGeneration: { type: 'integer' },
  }),
};

const schemas = {
  v1beta1: object({
    spec: object({ paused: flag, topology: object({ class: text, classNamespace: text, version: text }) }),
    status: object({ phase: text, controlPlaneReady: flag, infrastructureReady: flag, conditions }),
  }),
  v1beta2: object({
    spec: object({
      paused: flag,
      topology: object({ classRef: object({ name: text, namespace: text }), version: text }),
    }),
    status: object({
      phase: text,
      initialization: object({ controlPlaneInitialized: flag, infrastructureProvisioned: flag }),
      conditions,
    }),
  }),
};

/** Cluster API's Cluster in these versions; the first is stored. */
export function clusterAPIDefinition(...versions: ('v1beta1' | 'v1beta2')[]): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clusters.cluster.x-k8s.io' },
    spec: {
      group: 'cluster.x-k8s.io',
      names: { kind: 'Cluster', listKind: 'ClusterList', plural: 'clusters', singular: 'cluster', shortNames: ['cl'] },
      scope: 'Namespaced',
      versions: versions.map((name, place) => ({
        name,
        served: true,
        storage: place === 0,
        subresources: { status: {} },
        schema: { openAPIV3Schema: schemas[name] },
      })),
    },
  };
}
