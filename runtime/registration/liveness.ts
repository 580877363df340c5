/** Whether a cluster is there, from the time of its last heartbeat. Pure. */

export interface LivenessInput {
  /** When the agent says it reported last; `undefined` = never. Its clock may be wrong. */
  readonly lastSeenMs: number | undefined;
  /** When this hub saw `lastSeen` change; `undefined` = not since it started. */
  readonly observedMs: number | undefined;
  /** A cluster that was silent for longer is offline. */
  readonly toleranceMs: number;
  readonly nowMs: number;
}

export type Liveness =
  | { readonly state: 'never' }
  | { readonly state: 'online'; /** When it becomes offline unless it is heard of. */ readonly untilMs: number }
  | { readonly state: 'offline'; readonly sinceMs: number };

/**
 * The later of the agent's own time and the hub's observation counts, so that an agent whose clock is slow is not called
 * offline while it reports. A time in the future counts as now: a wrong clock must not keep a dead cluster online.
 */
export function evaluateLiveness({ lastSeenMs, observedMs, toleranceMs, nowMs }: LivenessInput): Liveness {
  if (lastSeenMs === undefined || !Number.isFinite(lastSeenMs)) return { state: 'never' };
  const own = lastSeenMs > nowMs ? (observedMs ?? nowMs) : lastSeenMs;
  const latest = Math.max(own, observedMs ?? own);
  const untilMs = latest + toleranceMs;
  return nowMs < untilMs ? { state: 'online', untilMs } : { state: 'offline', sinceMs: latest };
}
