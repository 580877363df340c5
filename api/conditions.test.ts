import { describe, expect, it } from 'vitest';
import { findCondition, isTrue, removeCondition, setCondition } from './conditions.ts';

const t0 = new Date('2026-01-01T00:00:00.500Z');
const t1 = new Date('2026-01-01T00:01:00Z');

describe('setCondition', () => {
  it('given no list, when a condition is set, then both times are now, to the second', () => {
    expect(setCondition(undefined, { type: 'Ready', status: 'False', reason: 'Pending' }, t0)).toEqual([
      {
        type: 'Ready',
        status: 'False',
        reason: 'Pending',
        lastTransitionTime: '2026-01-01T00:00:00Z',
        lastUpdateTime: '2026-01-01T00:00:00Z',
      },
    ]);
  });

  it('given the same content, when it is set again, then the very same list comes back', () => {
    const list = setCondition(null, { type: 'Ready', status: 'True', message: '' }, t0);
    expect(setCondition(list, { type: 'Ready', status: 'True' }, t1)).toBe(list);
  });

  it('given the same status, when the message changes, then only the update time moves', () => {
    const list = setCondition([], { type: 'Ready', status: 'False', message: 'a' }, t0);
    const next = setCondition(list, { type: 'Ready', status: 'False', message: 'b' }, t1);
    expect(next).not.toBe(list);
    expect(next[0]).toMatchObject({
      message: 'b',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      lastUpdateTime: '2026-01-01T00:01:00Z',
    });
  });

  it('given another status, when it is set, then the transition time moves and the place in the list stays', () => {
    const list = setCondition(
      setCondition([], { type: 'Ready', status: 'False' }, t0),
      { type: 'Processed', status: 'True' },
      t0,
    );
    const next = setCondition(list, { type: 'Ready', status: 'True' }, t1);
    expect(next.map(({ type }) => type)).toEqual(['Ready', 'Processed']);
    expect(next[0]?.lastTransitionTime).toBe('2026-01-01T00:01:00Z');
    expect(isTrue(next, 'Ready')).toBe(true);
    expect(isTrue(list, 'Ready')).toBe(false);
  });

  it('given a frozen list, when a condition is set or removed, then the list is not touched', () => {
    const list = Object.freeze(setCondition([], { type: 'Ready', status: 'False' }, t0));
    expect(setCondition(list, { type: 'Ready', status: 'True' }, t1)).not.toBe(list);
    expect(removeCondition(list, 'Ready')).toEqual([]);
    expect(removeCondition(list, 'Other')).toBe(list);
    expect(findCondition(list, 'Ready')?.status).toBe('False');
  });
});
