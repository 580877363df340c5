/** The manifests of Fleet's protocol as plain objects; the charts behind them for programs that use cdk8s. */
export { ClusterGroup, synthClusterGroup, type ClusterGroupProps, type ClusterSelector } from './cluster-group.ts';
export { FleetAgent, synthAgent } from './fleet-agent.ts';
export { FleetCrds, synthCrds } from './fleet-crds.ts';
export { FleetHub, synthHub } from './fleet-hub.ts';
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
  type RegisteredClusterProps,
} from './registered-cluster.ts';
export { RegistrationToken, synthRegistrationToken, type RegistrationTokenProps } from './registration-token.ts';
export type { HubObjectProps } from './hub-object.ts';
export type {
  AgentProps,
  EnvVar,
  HubProps,
  ResourceRequirements,
  SchedulingCustomization,
  Toleration,
  WorkloadProps,
} from './props.ts';
