import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateLiveness } from './liveness.ts';

const toleranceMs = 1000;

describe('liveness', () => {
  it('given no heartbeat yet, when evaluated, then it was never seen', () => {
    expect(evaluateLiveness({ lastSeenMs: undefined, observedMs: undefined, toleranceMs, nowMs: 5 })).toEqual({
      state: 'never',
    });
  });

  it('given a heartbeat, when its time runs out, then it is offline from exactly then on', () => {
    const at = (nowMs: number) => evaluateLiveness({ lastSeenMs: 10_000, observedMs: undefined, toleranceMs, nowMs });
    expect(at(10_999)).toEqual({ state: 'online', untilMs: 11_000 });
    expect(at(11_000)).toEqual({ state: 'offline', sinceMs: 10_000 });
  });

  it('given an agent whose clock is slow, when its heartbeat is seen, then it counts from the moment it was seen', () => {
    const seen = evaluateLiveness({ lastSeenMs: 0, observedMs: 10_000, toleranceMs, nowMs: 10_500 });
    expect(seen).toEqual({ state: 'online', untilMs: 11_000 });
  });

  it('given an agent whose clock is fast, when it dies, then it does not stay online for that', () => {
    const seen = evaluateLiveness({ lastSeenMs: 99_000, observedMs: 10_000, toleranceMs, nowMs: 11_001 });
    expect(seen).toEqual({ state: 'offline', sinceMs: 10_000 });
  });

  it('given any times, when online, then it ends in the future and within the tolerance', () => {
    const time = fc.integer({ min: 0, max: 1_000_000 });
    fc.assert(
      fc.property(time, fc.option(time, { nil: undefined }), time, (lastSeenMs, observed, nowMs) => {
        const observedMs = observed === undefined ? undefined : Math.min(observed, nowMs);
        const result = evaluateLiveness({ lastSeenMs, observedMs, toleranceMs, nowMs });
        if (result.state !== 'online') return;
        expect(result.untilMs).toBeGreaterThan(nowMs);
        expect(result.untilMs).toBeLessThanOrEqual(nowMs + toleranceMs);
      }),
    );
  });
});
