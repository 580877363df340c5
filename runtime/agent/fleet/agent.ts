/** The Fleet agent as one call: what `muster agent` runs, and what tests and benchmarks start in their own process. */
import type { KubeClient } from '../../kube/client.ts';
import type { Logger } from '../../kube/logger.ts';

/** Options of {@link runAgent}. */
export interface AgentOptions {
  /** The downstream cluster in which the agent lives. */
  readonly edge: KubeClient;
  /** Namespace of the agent's Secrets, ConfigMap and Lease. Fleet's default: `cattle-fleet-system`. */
  readonly namespace: string;
  /** `AGENT_SCOPE`: tells two agents of one cluster apart in what they deliver. Default: none. Registration ignores it. */
  readonly agentScope?: string;
  /** Time between heartbeats. Default, also for 0: `durations.agentCheckinInterval` (15 minutes). */
  readonly checkinIntervalMs?: number;
  /** Identity in the leader lease; a container restarted in its Pod keeps it and takes over at once. */
  readonly podName?: string;
  /** Value of the label `fleet.cattle.io/created-by-agent-pod`. Default: `podName`. */
  readonly hostname?: string;
  readonly logger?: Logger;
  /** `host:port` or `:port` of /healthz and /readyz; none when absent or `0`. */
  readonly probeAddress?: string;
  /** `host:port` or `:port` of /metrics; none when absent or `0`. */
  readonly metricsAddress?: string;
  /** Hold the Lease `fleet-agent` while acting. Default: true; off only where nothing else can run beside it. */
  readonly leaderElect?: boolean;
}

/**
 * Runs the agent until `signal` aborts: takes the lease, registers unless a working credential is stored, then sends
 * heartbeats and renews its token. Faults of hub, network and configuration never end it; they are retried and shown
 * in /readyz and as Events. Rejects only when the edge cluster's own API refuses to let it work at all.
 */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  await Promise.reject(new Error(`not there yet: ${options.namespace} ${signal.aborted}`));
}
