/** cdk8s constructs and the functions that synthesize them: `pulumi-muster/constructs`. */
export * as fleet from './fleet/index.ts';
export {
  ClusterGroup,
  FleetAgent,
  FleetCrds,
  FleetHub,
  RegisteredCluster,
  RegistrationToken,
  synthAgent,
  synthCluster,
  synthClusterGroup,
  synthCrds,
  synthHub,
  synthRegistrationToken,
  type AgentProps,
  type ClusterAgentProps,
  type ClusterGroupProps,
  type ClusterSelector,
  type HubObjectProps,
  type HubProps,
  type RegisteredClusterProps,
  type RegistrationTokenProps,
} from './fleet/index.ts';
export { toYaml, type YamlOptions } from './yaml.ts';
