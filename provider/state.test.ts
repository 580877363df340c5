import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { currentState, schemaVersion } from './state.ts';

describe('currentState (T15)', () => {
  test('refuses what a newer package wrote', () => {
    expect(() => currentState({ schemaVersion: schemaVersion + 1 })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', hint: expect.stringContaining('Upgrade') as string }),
    );
  });

  test('reads what every version wrote, one fixture each', () => {
    const folder = new URL('../test/pulumi/fixtures/', import.meta.url);
    const versions = new Set<unknown>();
    for (const file of readdirSync(folder)) {
      const { outputs } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as {
        outputs: Record<string, unknown>;
      };
      versions.add(outputs['schemaVersion']);
      expect(currentState(outputs)).not.toHaveProperty('schemaVersion');
    }
    expect([...versions].sort()).toEqual(Array.from({ length: schemaVersion }, (_, index) => index + 1));
  });
});
