import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { releaseMemoryAtRest } from './release-memory.ts';

const mb = 1024 * 1024;

describe('releaseMemoryAtRest', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function start() {
    const state = { cpuMs: 0, heap: 50 * mb, live: 30 * mb, collections: 0 };
    const end = releaseMemoryAtRest(
      {
        cpuMs: () => state.cpuMs,
        heapBytes: () => state.heap,
        collect: () => {
          state.collections += 1;
          state.heap = state.live;
        },
      },
      1000,
    );
    return { state, end };
  }

  it('given a burst, when it is over, then its garbage is collected, once', () => {
    const { state, end } = start();
    state.cpuMs += 900;
    vi.advanceTimersByTime(1000);
    expect(state.collections).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(state.collections).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(state.collections).toBe(1);
    state.heap += 20 * mb;
    vi.advanceTimersByTime(1000);
    expect(state.collections).toBe(2);
    end();
  });

  it('given little garbage, or an end, then nothing is collected', () => {
    const { state, end } = start();
    vi.advanceTimersByTime(1000);
    state.heap += 7 * mb;
    vi.advanceTimersByTime(60_000);
    expect(state.collections).toBe(1);
    end();
    state.heap += 20 * mb;
    vi.advanceTimersByTime(60_000);
    expect(state.collections).toBe(1);
  });
});
