/** The sign of life: `status.agent` of the Cluster, written the way Fleet's agent writes it. */
import { annotations } from '../../../api/fleet/constants.ts';
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import { parseHubAddress } from '../../../api/fleet/hub-address.ts';
import { Clusters } from '../../../api/fleet/kinds.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { formatTime } from '../../../api/time.ts';
import { isInvalid } from '../../kube/api-error.ts';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import type { ClusterFacts } from './facts.ts';

/** Options of {@link sendHeartbeat}. */
export interface Heartbeat {
  /** The Cluster on the hub. */
  readonly cluster: ObjectKey;
  /** Where the agent lives at the edge. */
  readonly agentNamespace: string;
  readonly facts?: ClusterFacts;
  /** Milliseconds since 1970. Default: now. */
  readonly now?: number;
}

/**
 * Sends one heartbeat: a JSON patch that replaces `status.agent` and nothing else. A Cluster that has no status yet
 * refuses such a patch (422); then the same value goes as a merge patch, which makes the parent. Returns where the hub
 * is from now on, when the Cluster says so.
 */
export async function sendHeartbeat(
  hub: KubeClient,
  beat: Heartbeat,
  options: CallOptions = {},
): Promise<HubAddress | undefined> {
  const { metadata } = await report(hub, beat, options);
  return parseHubAddress(metadata.annotations?.[annotations.hubAddress]);
}

async function report(hub: KubeClient, beat: Heartbeat, options: CallOptions): Promise<Cluster> {
  const agent = { lastSeen: formatTime(beat.now ?? Date.now()), namespace: beat.agentNamespace, ...beat.facts };
  const patch = [{ op: 'add', path: '/status/agent', value: agent }];
  try {
    return await hub.patch(Clusters, beat.cluster, patch, { ...options, type: 'json', subresource: 'status' });
  } catch (error) {
    if (!isInvalid(error)) throw error;
    return await hub.patch(
      Clusters,
      beat.cluster,
      { status: { agent } },
      { ...options, type: 'merge', subresource: 'status' },
    );
  }
}

/** Pause before the next heartbeat: `intervalMs` ± 5 %, so that agents started together drift apart. */
export function heartbeatDelay(intervalMs: number, random: () => number = Math.random): number {
  return intervalMs * (0.95 + 0.1 * random());
}
