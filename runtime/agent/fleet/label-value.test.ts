import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelValue } from './label-value.ts';

describe('labelValue', () => {
  it('given a pod name, then it stays as it is', () => {
    expect(labelValue('fleet-agent-6d5f8-x2x')).toBe('fleet-agent-6d5f8-x2x');
  });

  it('given any text, then the result is a valid label value', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        expect(labelValue(text)).toMatch(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/);
      }),
    );
  });
});
