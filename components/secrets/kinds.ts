/** Kinds of others that make Secrets in a cluster. No cdk8s, no schema code. */
import type { ResourceType } from '../../api/resource.ts';

export const ExternalSecrets: ResourceType = {
  group: 'external-secrets.io',
  version: 'v1',
  kind: 'ExternalSecret',
  plural: 'externalsecrets',
  namespaced: true,
};
export const SealedSecrets: ResourceType = {
  group: 'bitnami.com',
  version: 'v1alpha1',
  kind: 'SealedSecret',
  plural: 'sealedsecrets',
  namespaced: true,
};
