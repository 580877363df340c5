/** The Fleet agent as one call: what `muster agent` runs, and what tests and benchmarks start in their own process. */
import { hostname } from 'node:os';
import { durations } from '../../../api/durations.ts';
import { agentNames, configMapNames, hubAddressKey, secretNames } from '../../../api/fleet/constants.ts';
import { ConfigMaps, Secrets } from '../../../api/kubernetes/core.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { LeaderElectionOptions } from '../../kube/leader-election.ts';
import { type Logger, silentLogger } from '../../kube/logger.ts';
import { createManager } from '../../kube/manager.ts';
import { type Metrics, createMetrics } from '../../kube/metrics.ts';
import { createContext } from './context.ts';
import { createRecorder } from './event-target.ts';
import { runSession } from './session.ts';
import type { Wake } from './wake.ts';

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
  /** Identity in the leader lease; a container restarted in its Pod keeps it and takes over at once. Default: host and pid. */
  readonly podName?: string;
  /** Value of the label `fleet.cattle.io/created-by-agent-pod`. Default: `podName`, else the host's name. */
  readonly hostname?: string;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** `host:port` or `:port` of /healthz and /readyz; none when absent or `0`. */
  readonly probeAddress?: string;
  /** `host:port` or `:port` of /metrics; none when absent or `0`. */
  readonly metricsAddress?: string;
  /** Hold the Lease `fleet-agent` while acting. Default: true; off only where nothing else can run beside it. */
  readonly leaderElect?: boolean;
  /** Default: Fleet's 30 s lease, 25 s deadline, 10 s retry. The deadline must be shorter than the lease. */
  readonly election?: {
    readonly leaseDurationMs: number;
    readonly renewDeadlineMs: number;
    readonly retryPeriodMs: number;
  };
}

/**
 * Runs the agent until `signal` aborts: takes the lease, registers unless a working credential is stored, then sends
 * heartbeats and renews its token. Faults of hub, network and configuration never end it; they are retried and shown
 * in /readyz and as Events. Rejects when the lease is lost or a port is taken: the process should then exit and start
 * afresh.
 */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const { edge, namespace } = options;
  const logger = options.logger ?? silentLogger;
  const metrics = options.metrics ?? (isOn(options.metricsAddress) ? createMetrics() : undefined);
  const manager = createManager({
    client: edge,
    component: 'fleet-agent',
    logger,
    ...(metrics === undefined ? {} : { metrics }),
    ...(options.probeAddress === undefined ? {} : { probeAddress: options.probeAddress }),
    ...(options.metricsAddress === undefined ? {} : { metricsAddress: options.metricsAddress }),
    ...(options.leaderElect === false ? {} : { leaderElection: leaseOf(options) }),
  });
  const context = createContext({
    edge,
    namespace,
    podName: options.hostname ?? options.podName ?? hostname(),
    checkinIntervalMs: options.checkinIntervalMs || durations.agentCheckinInterval,
    record: createRecorder(edge, namespace, manager.events),
    logger,
    ...(metrics === undefined ? {} : { metrics }),
  });
  wakeOnNews(manager, namespace, context.wake);
  manager.addReadyCheck('fleet-agent', () => {
    const { ready, text } = context.status.readiness();
    if (!ready) throw new Error(text);
  });
  manager.addRunnable({ name: 'fleet-agent', run: async (leading) => runSession(context, leading) });
  await manager.run(signal);
}

function isOn(address: string | undefined): boolean {
  return address !== undefined && address !== '' && address !== '0';
}

function leaseOf(options: AgentOptions): LeaderElectionOptions {
  return {
    name: agentNames.lease,
    namespace: options.namespace,
    identity: options.podName ?? `${hostname()}-${process.pid}`,
    leaseDurationMs: options.election?.leaseDurationMs ?? durations.agentLeaseDuration,
    renewDeadlineMs: options.election?.renewDeadlineMs ?? durations.agentLeaseRenewDeadline,
    retryMs: options.election?.retryPeriodMs ?? durations.agentLeaseRetryPeriod,
  };
}

/** New content of the bootstrap Secret, or a new address of the hub, ends any wait. The agent's own notes do not. */
function wakeOnNews(manager: ReturnType<typeof createManager>, namespace: string, wake: Wake): void {
  const bootstrap = manager.cache(Secrets, { namespace, fieldSelector: `metadata.name=${secretNames.bootstrap}` });
  bootstrap.subscribe((event) => {
    if (event.initial || event.type === 'deleted') return;
    if (JSON.stringify(event.object.data) !== JSON.stringify(event.previous?.data)) wake.wake();
  });
  const config = manager.cache(ConfigMaps, { namespace, fieldSelector: `metadata.name=${configMapNames.agent}` });
  config.subscribe(({ initial, type, object, previous }) => {
    if (initial || type === 'deleted') return;
    if (object.data?.[hubAddressKey] !== previous?.data?.[hubAddressKey]) wake.wake();
  });
}
