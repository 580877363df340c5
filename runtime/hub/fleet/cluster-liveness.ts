/** Heartbeats of Clusters. */
import { parseGoDuration } from '../../../api/duration.ts';
import { durations } from '../../../api/durations.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import type { Liveness } from '../../registration/liveness.ts';
import { evaluateLiveness } from '../../registration/liveness.ts';
import type { HubContext } from './context.ts';

/** When the agent says it reported; Fleet writes the zero time for never. */
export function lastSeenMs(cluster: Cluster): number | undefined {
  const text = cluster.status?.agent?.lastSeen;
  const time = text ? Date.parse(text) : NaN;
  return Number.isFinite(time) && time > 0 ? time : undefined;
}

export function livenessOf(
  context: Pick<HubContext, 'config' | 'observed'>,
  cluster: Cluster,
  nowMs: number,
): Liveness {
  const interval = context.config.current.agentCheckinInterval;
  const intervalMs = (interval === undefined ? 0 : parseGoDuration(interval)) || durations.agentCheckinInterval;
  return evaluateLiveness({
    lastSeenMs: lastSeenMs(cluster),
    observedMs: context.observed.get(keyOf(cluster)),
    toleranceMs: (intervalMs / 2) * durations.silentHalfIntervals,
    nowMs,
  });
}

/** When the agent was last heard of, by this hub's clock where it saw it; `undefined` = never. */
export function heardMs(context: Pick<HubContext, 'observed'>, cluster: Cluster, nowMs: number): number | undefined {
  const claimed = lastSeenMs(cluster);
  if (claimed === undefined) return undefined;
  return context.observed.get(keyOf(cluster)) ?? Math.min(claimed, nowMs);
}
