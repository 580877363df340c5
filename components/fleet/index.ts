/** The manifests of Fleet's protocol as plain objects; the charts behind them for programs that use cdk8s. */
export { FleetAgent, synthAgent } from './fleet-agent.ts';
export { FleetCrds, synthCrds } from './fleet-crds.ts';
export { FleetHub, synthHub } from './fleet-hub.ts';
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
export type {
  AgentProps,
  EnvVar,
  HubProps,
  ResourceRequirements,
  SchedulingCustomization,
  Toleration,
  WorkloadProps,
} from './props.ts';
