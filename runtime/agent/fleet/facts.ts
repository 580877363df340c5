/** What the hub is told about this cluster beside that it lives: version and size. Never worth failing a heartbeat for. */
import { durations } from '../../../api/durations.ts';
import type { KubeClient } from '../../kube/client.ts';

/** As they stand in `status.agent`; absent where they cannot be read. */
export interface ClusterFacts {
  /** Such as `v1.35.2`. */
  readonly kubernetesVersion?: string;
  readonly nodes?: number;
}

/** Reads the facts of `edge`, anew after {@link durations.agentFacts}; whatever fails is left out. */
export function createFacts(edge: KubeClient): (signal?: AbortSignal) => Promise<ClusterFacts> {
  let known: { at: number; facts: ClusterFacts } | undefined;
  return async (signal) => {
    if (known !== undefined && performance.now() - known.at < durations.agentFacts) return known.facts;
    const [kubernetesVersion, nodes] = await Promise.all([
      orNothing(readVersion(edge, signal)),
      orNothing(countNodes(edge, signal)),
    ]);
    const facts = {
      ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
      ...(nodes === undefined ? {} : { nodes }),
    };
    known = { at: performance.now(), facts };
    return facts;
  };
}

async function readVersion(edge: KubeClient, signal: AbortSignal | undefined): Promise<string | undefined> {
  const { gitVersion } = ((await ask(edge, '/version', signal)) ?? {}) as { gitVersion?: unknown };
  return typeof gitVersion === 'string' && gitVersion !== '' ? gitVersion : undefined;
}

/** One node is read, of the others the server tells the number. */
async function countNodes(edge: KubeClient, signal: AbortSignal | undefined): Promise<number | undefined> {
  const list = ((await ask(edge, '/api/v1/nodes?limit=1', signal)) ?? {}) as {
    items?: unknown;
    metadata?: { remainingItemCount?: unknown };
  };
  if (!Array.isArray(list.items)) return undefined;
  return list.items.length + Number(list.metadata?.remainingItemCount ?? 0);
}

async function ask(edge: KubeClient, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  const deadline = AbortSignal.timeout(durations.agentFactsDeadline);
  return await edge.raw(path, { signal: signal ? AbortSignal.any([signal, deadline]) : deadline });
}

async function orNothing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch {
    return undefined;
  }
}
