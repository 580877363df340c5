import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, pickNewest } from './decision.ts';
import type { RegistrationRequest, RegistrationTarget } from './types.ts';

const request = (changes: Partial<RegistrationRequest> = {}): RegistrationRequest => ({
  key: 'ws/request-a',
  identity: 'id',
  createdAt: '2026-01-01T00:00:00Z',
  sequence: 1,
  granted: false,
  via: 'tok',
  ...changes,
});
const target = (changes: Partial<RegistrationTarget> = {}): RegistrationTarget => ({
  key: 'ws/c',
  identity: 'id',
  managedElsewhere: false,
  deleting: false,
  locked: false,
  registered: false,
  ...changes,
});

const anyRequest = fc.record({
  key: fc.constantFrom('ws/a', 'ws/b', 'ws/c', 'ws/d'),
  identity: fc.constant('id'),
  createdAt: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
  sequence: fc.integer({ min: 1, max: 3 }),
  granted: fc.boolean(),
  via: fc.constant(undefined),
});
const requests = fc.uniqueArray(anyRequest, { selector: ({ key }) => key, maxLength: 4 });

describe('which request of one identity wins', () => {
  it('given any requests in any order, when picked, then the same one wins and none is lost', () => {
    fc.assert(
      fc.property(requests, fc.infiniteStream(fc.nat()), (list, numbers) => {
        const shuffled = list
          .map((item) => ({ item, at: numbers.next().value ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item);
        const [first, second] = [pickNewest(list), pickNewest(shuffled)];
        expect(second.newest).toEqual(first.newest);
        expect([first.newest, ...first.superseded].filter(Boolean)).toHaveLength(list.length);
      }),
    );
  });

  it('given a later one, when picked, then it wins whatever else', () => {
    const later = request({ key: 'ws/b', createdAt: '2026-01-01T00:00:01Z', granted: true });
    expect(pickNewest([request({ sequence: 9 }), later]).newest).toBe(later);
  });

  it('given two of one second, when one was granted, then the other wins: its agent has lost the first answer', () => {
    const again = request({ key: 'ws/b' });
    expect(pickNewest([request({ granted: true, sequence: 9 }), again]).newest).toBe(again);
  });
});

describe('the decision', () => {
  const outcome = (input: Parameters<typeof decide>[0]) => {
    const decision = decide(input);
    return 'reason' in decision ? `${decision.outcome} ${decision.reason}` : decision.outcome;
  };

  it.each<[string, Parameters<typeof decide>[0], string]>([
    ['nobody known', { request: request(), holders: [], named: undefined }, 'create'],
    ['a Cluster with this identity', { request: request(), holders: [target()], named: undefined }, 'bind'],
    ['an earlier Cluster made for it', { request: request(), holders: [], named: target() }, 'bind'],
    [
      'no identity',
      { request: request({ identity: '' }), holders: [], named: target({ identity: '' }) },
      'reject InvalidSpec',
    ],
    [
      'two with this identity',
      { request: request(), holders: [target(), target({ key: 'ws/d' })], named: undefined },
      'reject AmbiguousClientID',
    ],
    [
      'two with this identity, one of which is being deleted',
      { request: request(), holders: [target({ deleting: true }), target({ key: 'ws/d' })], named: undefined },
      'bind',
    ],
    [
      'its name taken by another',
      { request: request(), holders: [], named: target({ identity: 'x' }) },
      'reject NameTaken',
    ],
    [
      'a Cluster that is being deleted',
      { request: request(), holders: [target({ deleting: true })], named: undefined },
      'wait Deleting',
    ],
    [
      'a Cluster of another manager',
      { request: request(), holders: [target({ managedElsewhere: true })], named: undefined },
      'skip ManagedElsewhere',
    ],
    [
      'a locked one that is registered',
      { request: request(), holders: [target({ locked: true, registered: true })], named: undefined },
      'reject RegistrationLocked',
    ],
    [
      'a locked one that is free',
      { request: request(), holders: [target({ locked: true })], named: undefined },
      'bind',
    ],
    [
      'the token of someone else',
      { request: request(), holders: [target({ onlyVia: 'import' })], named: undefined },
      'reject WrongToken',
    ],
    [
      'its own token',
      { request: request({ via: 'import' }), holders: [target({ onlyVia: 'import' })], named: undefined },
      'bind',
    ],
    [
      'one whose agent reports',
      { request: request(), holders: [target({ registered: true, live: true })], named: undefined },
      'wait ClientIDInUse',
    ],
    [
      'one whose agent reports, and the request that it came with',
      { request: request({ granted: true }), holders: [target({ registered: true, live: true })], named: undefined },
      'bind',
    ],
    [
      'one whose agent reports, with its own import token',
      {
        request: request({ via: 'import' }),
        holders: [target({ registered: true, live: true, onlyVia: 'import' })],
        named: undefined,
      },
      'bind',
    ],
    [
      'one whose agent reports, and an owner who allows it',
      { request: request(), holders: [target({ registered: true, live: true, takeover: true })], named: undefined },
      'bind',
    ],
    [
      'one whose agent is silent',
      { request: request(), holders: [target({ registered: true })], named: undefined },
      'bind',
    ],
    [
      'an agent that names no token',
      { request: request({ via: undefined }), holders: [target({ onlyVia: 'import' })], named: undefined },
      'bind',
    ],
  ])('given %s, when decided, then it is as it must be', (_what, input, expected) => {
    expect(outcome(input)).toBe(expected);
  });
});
