import { describe, expect, it } from 'vitest';
import { Wake } from './wake.ts';

describe('Wake', () => {
  it('given a long wait, when woken, then it ends at once', async () => {
    const wake = new Wake();
    const waiting = wake.wait(3_600_000, new AbortController().signal);
    wake.wake();
    expect(await waiting).toBe('woken');
  });

  it('given a wake-up before the wait, then the next wait does not wait, and the one after does', async () => {
    const wake = new Wake();
    const { signal } = new AbortController();
    wake.wake();
    wake.wake();
    expect(await wake.wait(3_600_000, signal)).toBe('woken');
    expect(await wake.wait(1, signal)).toBe('elapsed');
  });

  it('given an abort before or during the wait, then it ends as aborted', async () => {
    const wake = new Wake();
    const controller = new AbortController();
    const waiting = wake.wait(3_600_000, controller.signal);
    controller.abort();
    expect(await waiting).toBe('aborted');
    expect(await wake.wait(3_600_000, controller.signal)).toBe('aborted');
  });
});
