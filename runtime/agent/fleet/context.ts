/** What every part of one agent shares. */
import type { ClientConfig } from '../../kube/client-config.ts';
import type { KubeClient } from '../../kube/client.ts';
import { createClient } from '../../kube/create-client.ts';
import type { Logger } from '../../kube/logger.ts';
import type { Metrics } from '../../kube/metrics.ts';
import { type ClusterFacts, createFacts } from './facts.ts';
import { type Step, toAgentError } from './failure.ts';
import { labelValue } from './label-value.ts';
import { AgentStatus, type Record } from './status.ts';
import { systemRoots } from './trust.ts';
import { News } from './news.ts';
import { Wake } from './wake.ts';

export interface AgentContext {
  /** The cluster that is registered. */
  readonly edge: KubeClient;
  /** Namespace of the agent's objects at the edge. */
  readonly namespace: string;
  /** Becomes a label value on the Cluster. */
  readonly podName: string;
  readonly checkinIntervalMs: number;
  readonly status: AgentStatus;
  readonly logger: Logger;
  /** Woken when the bootstrap Secret appears or its content changes, and when the hub has news. */
  readonly wake: Wake;
  readonly news: News;
  /** Version and size of the edge. */
  facts(signal?: AbortSignal): Promise<ClusterFacts>;
  /** Opens a client to the hub; its owner closes it. */
  connect(config: ClientConfig): KubeClient;
}

/** Options of {@link createContext}. */
export interface ContextOptions {
  readonly edge: KubeClient;
  readonly namespace: string;
  /** Any text; turned into a label value. */
  readonly podName: string;
  readonly checkinIntervalMs: number;
  readonly record: Record;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

export function createContext(options: ContextOptions): AgentContext {
  const { edge, namespace, checkinIntervalMs, record, logger, metrics } = options;
  return {
    edge,
    namespace,
    checkinIntervalMs,
    logger,
    podName: labelValue(options.podName),
    status: new AgentStatus({ record, logger }),
    wake: new Wake(),
    news: new News(),
    facts: createFacts(edge),
    // Node.js by itself trusts the roots that it carries; a hub without a CA is checked against the system's, too.
    connect: (config) =>
      createClient(
        { ...config, ca: config.ca ?? systemRoots() },
        { userAgent: 'muster-agent', maxConnections: 2, ...(metrics === undefined ? {} : { metrics }) },
      ),
  };
}

/** Runs one step against `client`, its failure told as what it means at that step. */
export async function attempt<T>(client: KubeClient, step: Step, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toAgentError(error, step, client.server);
  }
}
