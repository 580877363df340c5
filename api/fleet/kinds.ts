/**
 * The kinds of the Fleet protocol as the client addresses them. Types come from the schemas and vanish at run time, so
 * that agents, which import this file, load no schema library.
 */
import type { ResourceType } from '../resource.ts';
import type { Bundle } from './bundle.ts';
import type { BundleDeployment } from './bundle-deployment.ts';
import type { BundleNamespaceMapping } from './bundle-namespace-mapping.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterGroup } from './cluster-group.ts';
import type { ClusterRegistration } from './cluster-registration.ts';
import type { ClusterRegistrationToken } from './cluster-registration-token.ts';
import { group, version } from './constants.ts';
import type { Content } from './content.ts';
import type { GitRepo } from './git-repo.ts';

export type { Bundle, BundleSpec, BundleStatus } from './bundle.ts';
export type { BundleDeployment, BundleDeploymentSpec, BundleDeploymentStatus } from './bundle-deployment.ts';
export type { BundleNamespaceMapping } from './bundle-namespace-mapping.ts';
export type { BundleOptions } from './bundle-options.ts';
export type { Cluster, ClusterSpec, ClusterStatus } from './cluster.ts';
export type { ClusterGroup, ClusterGroupSpec, ClusterGroupStatus } from './cluster-group.ts';
export type {
  ClusterRegistration,
  ClusterRegistrationSpec,
  ClusterRegistrationStatus,
} from './cluster-registration.ts';
export type {
  ClusterRegistrationToken,
  ClusterRegistrationTokenSpec,
  ClusterRegistrationTokenStatus,
} from './cluster-registration-token.ts';
export type { Content, ContentStatus } from './content.ts';
export type { GitRepo, GitRepoSpec, GitRepoStatus } from './git-repo.ts';
export type { BundleSummary, ModifiedStatus, NonReadyStatus, ResourceCounts } from './status.ts';

const namespaced = { group, version, namespaced: true } as const;

export const Clusters: ResourceType<Cluster> = { ...namespaced, kind: 'Cluster', plural: 'clusters' };
export const ClusterRegistrationTokens: ResourceType<ClusterRegistrationToken> = {
  ...namespaced,
  kind: 'ClusterRegistrationToken',
  plural: 'clusterregistrationtokens',
};
export const ClusterRegistrations: ResourceType<ClusterRegistration> = {
  ...namespaced,
  kind: 'ClusterRegistration',
  plural: 'clusterregistrations',
};
export const ClusterGroups: ResourceType<ClusterGroup> = {
  ...namespaced,
  kind: 'ClusterGroup',
  plural: 'clustergroups',
};
export const BundleDeployments: ResourceType<BundleDeployment> = {
  ...namespaced,
  kind: 'BundleDeployment',
  plural: 'bundledeployments',
};
/** Cluster-scoped. */
export const Contents: ResourceType<Content> = {
  group,
  version,
  kind: 'Content',
  plural: 'contents',
  namespaced: false,
};
export const Bundles: ResourceType<Bundle> = { ...namespaced, kind: 'Bundle', plural: 'bundles' };
export const GitRepos: ResourceType<GitRepo> = { ...namespaced, kind: 'GitRepo', plural: 'gitrepos' };
export const BundleNamespaceMappings: ResourceType<BundleNamespaceMapping> = {
  ...namespaced,
  kind: 'BundleNamespaceMapping',
  plural: 'bundlenamespacemappings',
};
