/** The kind as the client addresses it. Its type comes from the schema and vanishes at run time. */
import type { ResourceType } from '../resource.ts';
import type { ClusterProfile } from './cluster-profile.ts';
import { group, version } from './constants.ts';

export type {
  AccessProvider,
  ClusterProfile,
  ClusterProfileSpec,
  ClusterProfileStatus,
  ClusterProperty,
  ProfileCondition,
} from './cluster-profile.ts';

export const ClusterProfiles: ResourceType<ClusterProfile> = {
  group,
  version,
  kind: 'ClusterProfile',
  plural: 'clusterprofiles',
  namespaced: true,
};

/** Name of its CustomResourceDefinition. */
export const clusterProfileDefinition = `${ClusterProfiles.plural}.${group}`;
