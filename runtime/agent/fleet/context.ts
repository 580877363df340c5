/** What every part of one agent shares. */
import type { ClientConfig } from '../../kube/client-config.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Logger } from '../../kube/logger.ts';
import { type Step, toAgentError } from './failure.ts';
import type { AgentStatus } from './status.ts';
import type { Wake } from './wake.ts';

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
  /** Woken when the bootstrap Secret appears or its content changes. */
  readonly wake: Wake;
  /** Opens a client to the hub; its owner closes it. */
  connect(config: ClientConfig): KubeClient;
}

/** Runs one step against `client`, its failure told as what it means at that step. */
export async function attempt<T>(client: KubeClient, step: Step, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw toAgentError(error, step, client.server);
  }
}
