import { describe, expect, it } from 'vitest';
import { formatTally, tallyOf } from './test.ts';

const report = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

describe('tallyOf', () => {
  it('counts what Vitest counts', () => {
    const mixed = { ...report, numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 };
    expect(tallyOf(mixed, 1)).toEqual({ passed: 5, failed: 2, skipped: 2 });
  });

  it('counts a file that could not be loaded as a failure', () => {
    const file = { status: 'failed', assertionResults: [] };
    expect(tallyOf({ ...report, testResults: [file] }, 1).failed).toBe(1);
  });

  it('counts a failed file with failed tests only by its tests', () => {
    const file = { status: 'failed', assertionResults: [{ status: 'failed' }] };
    expect(tallyOf({ ...report, numFailedTests: 1, testResults: [file] }, 1).failed).toBe(1);
  });

  it('fails when Vitest fails for a reason of its own', () => {
    expect(tallyOf(report, 1).failed).toBe(1);
  });

  it('fails when there is no report', () => {
    expect(tallyOf(undefined, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

describe('formatTally', () => {
  it.each([
    [{ passed: 12, failed: 0, skipped: 0 }, '12 passed, 0 failed'],
    [{ passed: 12, failed: 1, skipped: 3 }, '12 passed, 1 failed, 3 skipped'],
  ])('%o is %s', (tally, line) => {
    expect(formatTally(tally)).toBe(line);
  });
});
