import { describe, expect, it } from 'vitest';
import { checkName, isDnsLabel, isDnsSubdomain } from './names.ts';

describe('names', () => {
  it.each(['a', 'a-b', '0', 'a'.repeat(63)])('given %s, then it is a label and a subdomain', (name) => {
    expect([isDnsLabel(name), isDnsSubdomain(name)]).toEqual([true, true]);
  });

  it('given dots, then it is a subdomain only', () => {
    expect([isDnsLabel('a.b'), isDnsSubdomain('a.b')]).toEqual([false, true]);
  });

  it.each(['', '-a', 'a-', 'A', 'a_b', 'a..b', '.a', 'ä', `${'a'.repeat(254)}`])(
    'given %j, then it is neither',
    (name) => {
      expect([isDnsLabel(name), isDnsSubdomain(name)]).toEqual([false, false]);
    },
  );

  it('given a bad name, when it is checked, then the error says where and what is allowed', () => {
    expect(checkName('east', 'name')).toBe('east');
    expect(checkName('east.eu', 'name', 'subdomain')).toBe('east.eu');
    expect(() => checkName('East', 'metadata.name')).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        where: 'metadata.name',
        hint: expect.stringContaining('63'),
      }),
    );
  });
});
