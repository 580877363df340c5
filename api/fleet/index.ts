/** The Fleet protocol: kinds with schemas, names, constants, configuration. Loads zod; agents import the files they need. */
import { bundleDescriptor } from './bundle.ts';
import { bundleDeploymentDescriptor } from './bundle-deployment.ts';
import { bundleNamespaceMappingDescriptor } from './bundle-namespace-mapping.ts';
import { clusterDescriptor } from './cluster.ts';
import { clusterGroupDescriptor } from './cluster-group.ts';
import { clusterRegistrationDescriptor } from './cluster-registration.ts';
import { clusterRegistrationTokenDescriptor } from './cluster-registration-token.ts';
import { contentDescriptor } from './content.ts';
import { gitRepoDescriptor } from './git-repo.ts';

export * from './agent-config.ts';
export * from './bootstrap-values.ts';
export * from './bundle.ts';
export * from './bundle-deployment.ts';
export * from './bundle-namespace-mapping.ts';
export * from './cluster.ts';
export * from './cluster-group.ts';
export * from './cluster-registration.ts';
export * from './cluster-registration-token.ts';
export * from './constants.ts';
export * from './content.ts';
export * from './git-repo.ts';
export * from './hub-config.ts';
export {
  BundleDeployments,
  BundleNamespaceMappings,
  Bundles,
  ClusterGroups,
  ClusterRegistrationTokens,
  ClusterRegistrations,
  Clusters,
  Contents,
  GitRepos,
} from './kinds.ts';
export * from './names.ts';
export type { BundleOptions } from './bundle-options.ts';
export type { BundleSummary, ModifiedStatus, NonReadyStatus, ResourceCounts } from './status.ts';
export { bundleStates } from './status.ts';

/** All kinds, in the order in which they are best installed and read about. */
export const fleetDescriptors = [
  clusterDescriptor,
  clusterRegistrationTokenDescriptor,
  clusterRegistrationDescriptor,
  clusterGroupDescriptor,
  bundleDescriptor,
  bundleDeploymentDescriptor,
  contentDescriptor,
  gitRepoDescriptor,
  bundleNamespaceMappingDescriptor,
] as const;
