import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { toYaml } from './yaml.ts';

const manifest = (data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'texts' },
  ...{ data },
});

describe('given texts in a manifest', () => {
  test('when they hold what YAML 1.1 takes for the end of a line, then it is escaped', () => {
    const text = toYaml([manifest({ separator: 'a\u2028b', next: 'a\u0085b', lines: 'a\nb\u2029c', bell: '\u0007' })]);
    expect(text).toContain('separator: "a\\u2028b"\n');
    expect(text).toContain('next: "a\\u0085b"\n');
    expect(text).toContain('lines: "a\\nb\\u2029c"\n');
    expect(text).toContain('bell: "\\a"\n');
  });

  test('when they look like other types to a reader of YAML 1.1, then they are quoted', () => {
    const text = toYaml([manifest({ a: 'on', b: '1e3', c: '0x1f', d: '~' })]);
    expect(text).toContain('  a: "on"\n  b: "1e3"\n  c: "0x1f"\n  d: "~"\n');
  });

  test('when they are any texts at all, then they come back, and no raw control is left', () => {
    const unit = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(fc.dictionary(unit, unit, { maxKeys: 4 }), (data) => {
        const text = toYaml([manifest(data)]);
        expect((parse(text, { version: '1.1' }) as { data?: unknown }).data).toEqual(data);
        // eslint-disable-next-line no-control-regex
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/);
      }),
      { numRuns: 500 },
    );
  });
});
