import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { difference } from './status-writer.ts';

/** RFC 7386, as the API server applies it. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}

const value = fc.letrec((tie) => ({
  leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 })),
  node: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('node'), { maxKeys: 4 }),
  ),
})).node;
const status = fc.dictionary(fc.constantFrom('agent', 'conditions', 'display', 'namespace'), value);

describe('difference of two states', () => {
  it('given any two states, when the patch is applied to the first, then it is the second', () => {
    fc.assert(
      fc.property(status, status, (before, after) => {
        const patch = difference(before, after);
        expect(patch === undefined ? before : mergePatch(before, patch)).toEqual(after);
      }),
    );
  });

  it('given equal states, when compared, then there is nothing to write', () => {
    fc.assert(
      fc.property(status, (before) => {
        expect(difference(before, structuredClone(before))).toBeUndefined();
      }),
    );
  });

  it('given a state whose conditions changed, when compared, then the heartbeat is not part of the patch', () => {
    const agent = { lastSeen: '2026-01-01T00:00:00Z' };
    expect(difference({ agent, namespace: 'a' }, { agent, namespace: 'b' })).toEqual({ namespace: 'b' });
  });
});
