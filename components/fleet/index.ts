/** The manifests of Fleet's protocol as plain objects; the charts behind them for programs that use cdk8s. */
import type { KubeObject } from '../../api/resource.ts';
import { FleetAgent } from './fleet-agent.ts';
import { FleetCrds } from './fleet-crds.ts';
import { FleetHub } from './fleet-hub.ts';
import type { AgentProps, HubProps } from './props.ts';
import { synthesize } from './synthesize.ts';

export { FleetAgent } from './fleet-agent.ts';
export { FleetCrds } from './fleet-crds.ts';
export { FleetHub } from './fleet-hub.ts';
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

/** CustomResourceDefinitions of all Fleet kinds that muster knows, sorted by name. */
export function synthCrds(): KubeObject[] {
  return synthesize((app) => new FleetCrds(app, 'crds'));
}

/**
 * Everything a hub needs but the CRDs, in the order in which to apply it: namespaces, admission policies (the fence
 * stands before the rights), accounts, RBAC, configuration, Deployment. Throws INVALID_ARGUMENT.
 */
export function synthHub(props: HubProps): KubeObject[] {
  return synthesize((app) => new FleetHub(app, 'hub', props));
}

/**
 * The agent in a downstream cluster, in the order in which to apply it. Equal props give equal bytes, and so do lists
 * whose order has no meaning in another order. Throws INVALID_ARGUMENT.
 */
export function synthAgent(props: AgentProps): KubeObject[] {
  return synthesize((app) => new FleetAgent(app, 'agent', props));
}
