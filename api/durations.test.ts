import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { durations } from './durations.ts';

it('every duration is a positive whole number, and its line or the one above gives a reason', () => {
  for (const [name, value] of Object.entries(durations)) {
    expect(Number.isInteger(value) && value > 0, name).toBe(true);
  }
  const lines = readFileSync(new URL('./durations.ts', import.meta.url), 'utf8').split('\n');
  const unexplained = lines.filter((line, index) => {
    if (!/^ {2}\w+:/.test(line)) return false;
    const above = lines[index - 1] ?? '';
    // A pair such as first and last shares the reason of its first line.
    return !/^\s*(\/\/|\/\*\*|\*)/.test(above) && !/^ {2}\w+:/.test(above);
  });
  expect(unexplained).toEqual([]);
});
