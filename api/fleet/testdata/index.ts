/** One object per kind in which every field of the wire has a value. */
import type { KubeObject } from '../../resource.ts';
import { bundle, bundleDeployment, bundleNamespaceMapping, content, gitRepo } from './delivery.ts';
import { cluster, clusterGroup, clusterRegistration, clusterRegistrationToken } from './registration.ts';

export const maximalObjects: readonly KubeObject[] = [
  cluster,
  clusterRegistrationToken,
  clusterRegistration,
  clusterGroup,
  bundle,
  bundleDeployment,
  content,
  gitRepo,
  bundleNamespaceMapping,
];
