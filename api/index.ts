/** The contract: what is on the wire, checked and described. Nothing here talks to a cluster. */
export * from './conditions.ts';
export * from './crd.ts';
export * from './define-resource.ts';
export * from './duration.ts';
export { durations } from './durations.ts';
export * from './errors.ts';
export * as fleet from './fleet/index.ts';
export * as multicluster from './multicluster/index.ts';
export * from './kubernetes/core.ts';
export { checkName, isDnsLabel, isDnsSubdomain } from './kubernetes/names.ts';
export * from './kubernetes/rbac.ts';
export * from './kubernetes/workloads.ts';
export * from './labels.ts';
export * as rules from './muster/index.ts';
export * from './resource.ts';
export * from './validate.ts';
