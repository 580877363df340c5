import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReporter, formatElapsed } from './progress.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function screen(isTTY: boolean): { written: string[]; write(text: string): void; isTTY: boolean; columns: number } {
  const written: string[] = [];
  return { written, write: (text) => void written.push(text), isTTY, columns: 40 };
}

describe('formatElapsed', () => {
  it.each([
    [0, '0.0 s'],
    [1_234, '1.2 s'],
    [59_940, '59.9 s'],
    [59_960, '1:00 min'],
    [187_000, '3:07 min'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatElapsed(ms)).toBe(text);
  });
});

describe('createReporter without a terminal', () => {
  it('prints only the end of a short step', () => {
    const stream = screen(false);
    const step = createReporter({ stream }).step('etcd 3.6.16');
    vi.advanceTimersByTime(1_500);
    step.done();
    expect(stream.written).toEqual(['✓ etcd 3.6.16 (1.5 s)\n']);
  });

  it('shows after two seconds that a step runs, and then now and again how far it is', () => {
    const stream = screen(false);
    const step = createReporter({ stream }).step('etcd 3.6.16');
    vi.advanceTimersByTime(2_000);
    step.update('compiled 5 of 9 packages');
    vi.advanceTimersByTime(15_000);
    step.fail('no space left');
    expect(stream.written).toEqual([
      '… etcd 3.6.16 (2.0 s)\n',
      '… etcd 3.6.16: compiled 5 of 9 packages (17.0 s)\n',
      '✗ etcd 3.6.16: no space left (17.0 s)\n',
    ]);
  });
});

describe('createReporter on a terminal', () => {
  it('draws one line over itself, within the width of the terminal', () => {
    const stream = screen(true);
    const step = createReporter({ stream }).step('a title that is longer than this terminal is wide');
    vi.advanceTimersByTime(500);
    const lines = stream.written.filter((text) => text.startsWith('…'));
    expect(lines).toHaveLength(3);
    expect(lines.every((text) => text.length < 40)).toBe(true);
    step.done();
    expect(stream.written.at(-1)).toBe('✓ a title that is longer than this terminal is wide (0.5 s)\n');
  });

  it('keeps the drawn line below lines that stay', () => {
    const stream = screen(true);
    const reporter = createReporter({ stream });
    reporter.step('build');
    reporter.info('something that stays');
    expect(stream.written.slice(-2)).toEqual(['something that stays\n', '… build (0.0 s)']);
  });

  it('leaves no timer when all steps have ended', () => {
    const reporter = createReporter({ stream: screen(true) });
    const steps = [reporter.step('a'), reporter.step('b')];
    for (const step of steps) step.done();
    expect(vi.getTimerCount()).toBe(0);
  });
});
