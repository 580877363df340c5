import { describe, expect, test } from 'vitest';
import { disruptionLimit } from './agent-scheduling.ts';

describe('given a pod disruption budget', () => {
  test.each([
    [{ minAvailable: '1' }, { minAvailable: 1 }],
    [{ maxUnavailable: '50%' }, { maxUnavailable: '50%' }],
    [{ minAvailable: '0', maxUnavailable: '2' }, { maxUnavailable: 2 }],
    [{ minAvailable: '20%', maxUnavailable: '0' }, { minAvailable: '20%' }],
    [{ minAvailable: '0' }, { minAvailable: 0 }],
    [{ minAvailable: '0', maxUnavailable: '0' }, { maxUnavailable: 0 }],
    [{ minAvailable: '', maxUnavailable: '' }, { maxUnavailable: 0 }],
    [{}, { maxUnavailable: 0 }],
  ])('%j becomes %j', (budget, expected) => {
    expect(disruptionLimit(budget)).toEqual(expected);
  });

  test('two limits are refused', () => {
    expect(() => disruptionLimit({ minAvailable: '1', maxUnavailable: '1' })).toThrow('both set');
  });

  test('a text that is neither number nor percentage is refused by its field', () => {
    expect(() => disruptionLimit({ minAvailable: 'half' })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        where: 'agentSchedulingCustomization.podDisruptionBudget.minAvailable',
      }) as Error,
    );
  });
});
