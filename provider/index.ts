/**
 * `pulumi-muster/provider`: what the text in Pulumi's state loads. Free of the Pulumi SDK at run time, so that the
 * handlers can be used and tested without it.
 */
import './require-node.ts';

export { Clients, type Target } from './clients.ts';
export { configEnvironment, configKeys, type Configuration, type Connection } from './configuration.ts';
export { createDynamicProvider, dynamicProvider, type DynamicProviderOptions } from './dynamic-provider.ts';
export {
  Incomplete,
  type CallContext,
  type CheckFailure,
  type CheckResult,
  type DiffResult,
  type Props,
  type ResourceHandler,
  type ResourceKind,
} from './handler.ts';
export { schemaVersion } from './state.ts';
