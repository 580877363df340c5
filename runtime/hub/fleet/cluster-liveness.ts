/** Heartbeats of Clusters. */
import { conditionTypes, isTrue } from '../../../api/conditions.ts';
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

type Known = Pick<HubContext, 'config' | 'observed' | 'inherited'>;

/**
 * By the time at which this hub saw a heartbeat; of one before its start, by the agent's own time. Where that contradicts
 * what the hub before it had found, the agent has the time of one silence to show that it lives.
 */
export function livenessOf(context: Known, cluster: Cluster, nowMs: number): Liveness {
  const key = keyOf(cluster);
  return evaluateLiveness({
    lastSeenMs: lastSeenMs(cluster),
    observedMs: context.observed.get(key) ?? context.inherited.get(key),
    toleranceMs: toleranceMs(context),
    nowMs,
  });
}

/** Notes, of a Cluster as it was when this process first saw it, whether its own time can be trusted. */
export function inheritLiveness(context: Known, cluster: Cluster, nowMs: number): void {
  const claimed = lastSeenMs(cluster);
  const reachable = isTrue(cluster.status?.conditions, conditionTypes.online);
  if (reachable && claimed !== undefined && claimed + toleranceMs(context) <= nowMs) {
    context.inherited.set(keyOf(cluster), nowMs);
  }
}

function toleranceMs(context: Pick<HubContext, 'config'>): number {
  const interval = context.config.current.agentCheckinInterval;
  const intervalMs = (interval === undefined ? 0 : parseGoDuration(interval)) || durations.agentCheckinInterval;
  return (intervalMs / 2) * durations.silentHalfIntervals;
}

/** When the agent was last heard of, by this hub's clock where it saw it; `undefined` = never. */
export function heardMs(context: Pick<HubContext, 'observed'>, cluster: Cluster, nowMs: number): number | undefined {
  const claimed = lastSeenMs(cluster);
  if (claimed === undefined) return undefined;
  return context.observed.get(keyOf(cluster)) ?? Math.min(claimed, nowMs);
}
