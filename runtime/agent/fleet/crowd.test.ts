/** What a hub sees of a thousand agents when it comes back after an outage. */
import { describe, expect, it } from 'vitest';
import { durations } from '../../../api/durations.ts';
import { heartbeatDelay } from './heartbeat.ts';
import { retryDelay } from './session.ts';

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** When each of so many agents reaches a hub that was away for `outageMs`, in ms after its return; all noticed at once. */
function returns(agents: number, outageMs: number): number[] {
  const random = randomFrom(1);
  return Array.from({ length: agents }, () => {
    let at = 0;
    for (let failures = 1; at < outageMs; failures++) at += retryDelay(failures, random);
    return at - outageMs;
  });
}

/** The most that happens within one second. */
function busiest(times: readonly number[]): number {
  const seconds = new Map<number, number>();
  for (const time of times) seconds.set(Math.floor(time / 1000), (seconds.get(Math.floor(time / 1000)) ?? 0) + 1);
  return Math.max(...seconds.values());
}

describe('a hub that was away', () => {
  it.each([5, 15, 120])(
    'given a thousand agents that lost it at once for %i minutes, then all are back within a minute, and no second has more than a twentieth of them',
    (minutes) => {
      const times = returns(1000, minutes * 60_000);
      expect(Math.max(...times)).toBeLessThanOrEqual(durations.agentRetryLast);
      expect(busiest(times)).toBeLessThanOrEqual(50);
    },
  );

  it('given agents that reported in one moment, when intervals pass, then their heartbeats drift apart', () => {
    const random = randomFrom(2);
    const interval = durations.agentCheckinInterval;
    const afterDay = Array.from({ length: 1000 }, () => {
      let at = 0;
      for (let beat = 0; beat < 96; beat++) at += heartbeatDelay(interval, random);
      return at;
    });
    expect(busiest(afterDay)).toBeLessThan(20);
  });
});
