/** `pulumi-muster/runtime`: hub and agent as functions, and the engine room they run on. Loads no Pulumi SDK. */
export { runAgent, type AgentOptions } from './agent/fleet/agent.ts';
export { runHub, type HubOptions } from './hub/fleet/hub.ts';
export * from './kube/api-error.ts';
export { createCache, type Cache, type CacheEvent, type CacheOptions } from './kube/cache.ts';
export type { ClientConfig, ExecPlugin } from './kube/client-config.ts';
export type * from './kube/client.ts';
export {
  TerminalError,
  createController,
  type Controller,
  type ControllerOptions,
  type ReconcileContext,
  type Result,
} from './kube/controller.ts';
export { createClient, type ClientOptions } from './kube/create-client.ts';
export { inClusterConfig, isInCluster } from './kube/in-cluster.ts';
export { formatKubeconfig, loadKubeconfigFile, parseKubeconfig, type KubeconfigOptions } from './kube/kubeconfig.ts';
export { createLogger, silentLogger, type Logger, type LoggerOptions, type LogLevel } from './kube/logger.ts';
export { createManager, type Manager, type ManagerOptions, type Runnable } from './kube/manager.ts';
export { createMetrics, type Metrics } from './kube/metrics.ts';
