/** The manifests of Fleet's protocol as plain objects; the constructs and charts behind them for programs that use cdk8s. */
export { Agent } from './agent.ts';
export { ClusterGroup, synthClusterGroup, type ClusterGroupProps, type IClusterGroup } from './cluster-group.ts';
export { FleetAgent, synthAgent } from './fleet-agent.ts';
export { FleetCrds, synthCrds, type CrdsProps } from './fleet-crds.ts';
export { FleetHub, synthHub } from './fleet-hub.ts';
export { GitRepo, synthGitRepo, type GitRepoProps } from './git-repo.ts';
export { Hub } from './hub.ts';
export { isFleetImage } from './image.ts';
export { manifestKinds, resourceTypeOf } from './kinds.ts';
export {
  defaultPorts,
  fieldManager,
  grantRoles,
  hubNames,
  podAnnotations,
  policyNames,
  workspaceLabel,
} from './names.ts';
export {
  RegisteredCluster,
  synthCluster,
  type ClusterAgentProps,
  type IRegisteredCluster,
  type RegisteredClusterOptions,
  type RegisteredClusterProps,
} from './registered-cluster.ts';
export {
  RegistrationRule,
  synthRegistrationRule,
  type PassedProps,
  type RegistrationRuleProps,
  type RuleSourceProps,
} from './registration-rule.ts';
export {
  RegistrationToken,
  synthRegistrationToken,
  type IRegistrationToken,
  type RegistrationTokenProps,
} from './registration-token.ts';
export type { HubObjectProps, IHubObject, ReferenceOptions } from './hub-object.ts';
export type { ClusterSelector, ITarget, Target, TargetProps } from './target.ts';
export type {
  AgentProps,
  EnvVar,
  HubProps,
  PullSecret,
  ResourceRequirements,
  SchedulingCustomization,
  Toleration,
  WorkloadProps,
} from './props.ts';
