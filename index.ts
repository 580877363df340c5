/**
 * muster: register Kubernetes clusters with a hub, as code. This entry holds the Pulumi resources; see the sub-paths
 * `pulumi-muster/constructs` (cdk8s), `pulumi-muster/api` (kinds, names, validation) and `pulumi-muster/runtime`.
 */
import './provider/require-node.ts';

export { MusterError, isMusterError, type ErrorCode } from './api/errors.ts';
export { AgentRelease, type AgentReleaseArgs } from './provider/resources/agent-release.ts';
export type { AgentSettings } from './provider/resources/agent-settings.ts';
export { Cluster, type ClusterArgs } from './provider/resources/cluster.ts';
export { ClusterGroup, type ClusterGroupArgs, type LabelSelector } from './provider/resources/cluster-group.ts';
export {
  ClusterRegistrationToken,
  type ClusterRegistrationTokenArgs,
} from './provider/resources/cluster-registration-token.ts';
export { HubRelease, type HubReleaseArgs } from './provider/resources/hub-release.ts';
export type {
  CommonArgs,
  ConditionOutput,
  Deep,
  HubConnectionArgs,
  MetadataArgs,
  TimeoutsArgs,
} from './provider/resources/inputs.ts';
export {
  RegistrationRule,
  type RegistrationRuleArgs,
  type RuleOnSourceDeleted,
  type RulePass,
  type RuleRegistration,
  type RuleSource,
} from './provider/resources/registration-rule.ts';
export {
  RegisteredCluster,
  type ByKubeconfigArgs,
  type ByManifestArgs,
  type ByTokenArgs,
  type RegisteredClusterArgs,
} from './provider/resources/registered-cluster.ts';
