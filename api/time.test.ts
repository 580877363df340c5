import { describe, expect, it } from 'vitest';
import { formatTime } from './time.ts';

describe('formatTime', () => {
  it('given any time, then it has whole seconds and is UTC', () => {
    expect(formatTime(0)).toBe('1970-01-01T00:00:00Z');
    expect(formatTime(new Date(Date.UTC(2026, 10, 29, 22, 0, 0, 999)))).toBe('2026-11-29T22:00:00Z');
  });
});
