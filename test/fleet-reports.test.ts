/** docs/fleet-reports.md names tests; each of them is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const rows = readFileSync(join(root, 'docs/fleet-reports.md'), 'utf8')
  .split('\n')
  .filter((line) => line.includes('.test.ts ') && line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, report = '', , file = '', name = '']) => ({ report, file, name }));

it('given the table, when read, then it has rows', () => {
  expect(rows.length).toBeGreaterThan(30);
});

it.each(rows)('given $report, when looked for in $file, then the test is there: $name', ({ file, name }) => {
  expect(existsSync(join(root, file))).toBe(true);
  const text = readFileSync(join(root, file), 'utf8');
  expect(text.includes(`'${name}`)).toBe(true);
});
