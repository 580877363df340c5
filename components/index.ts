/** cdk8s constructs and the functions that synthesize them: `pulumi-muster/constructs`. */
export * as fleet from './fleet/index.ts';
export {
  FleetAgent,
  FleetCrds,
  FleetHub,
  synthAgent,
  synthCrds,
  synthHub,
  type AgentProps,
  type HubProps,
} from './fleet/index.ts';
