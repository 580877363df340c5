import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceNamespace } from './selection.ts';
import { byPrecedence, matches, namespaceOf, ruleProblem, rulesFor } from './selection.ts';
import { aRule, aSource } from './testdata/sources.ts';

const open: SourceNamespace = { labels: { team: 'a' }, open: true };
const closed: SourceNamespace = { labels: { team: 'a' }, open: false };

describe('whether a rule selects a source', () => {
  const source = aSource('east', { labels: { env: 'prod' } });
  it.each([
    ['a rule for all', aRule('all'), open, true],
    ['a namespace that is not open', aRule('all'), closed, false],
    ['a namespace that is not known', aRule('all'), undefined, false],
    [
      'a namespace that is named, open or not',
      aRule('all', { namespaceSelector: { matchLabels: { team: 'a' } } }),
      closed,
      true,
    ],
    ['another namespace', aRule('all', { namespaceSelector: { matchLabels: { team: 'b' } } }), open, false],
    ['its label', aRule('all', { selector: { matchLabels: { env: 'prod' } } }), open, true],
    ['another label', aRule('all', { selector: { matchLabels: { env: 'test' } } }), open, false],
    ['another kind', aRule('all', { source: { clusterProfile: {} } }), open, false],
    ['a rule that is being deleted', aRule('all', {}, { deletionTimestamp: '2026-01-02T00:00:00Z' }), open, false],
  ])('given %s, when asked, then the answer is right', (_, rule, namespace, expected) => {
    expect(matches(rule, source, namespace)).toBe(expected);
  });

  it('given a Secret in a namespace that the hub cannot read, when asked, then no rule selects it', () => {
    const secret = aSource('east', { kind: 'Secret', labels: { kubeconfig: 'yes' } });
    const rule = aRule('secrets', {
      source: { kubeconfigSecret: {} },
      namespaceSelector: {},
      selector: { matchLabels: { kubeconfig: 'yes' } },
    });
    expect(matches(rule, secret, closed)).toBe(false);
    expect(matches(rule, secret, open)).toBe(true);
  });

  it('given labels of a namespace, when read, then either of the two opens it', () => {
    const namespace = (labels: Record<string, string>) =>
      namespaceOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', labels } }).open;
    expect(namespace({ 'muster.dev/source': 'true' })).toBe(true);
    expect(namespace({ 'muster.dev/workspace': 'true' })).toBe(true);
    expect(namespace({ 'muster.dev/source': 'yes' })).toBe(false);
  });
});

describe('which of several rules wins', () => {
  const rule = fc
    .record({
      name: fc.stringMatching(/^[a-z]{1,3}$/),
      priority: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
      day: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ name, priority, day }) =>
      aRule(name, priority === undefined ? {} : { priority }, { creationTimestamp: `2026-01-0${day}T00:00:00Z` }),
    );
  const rules = fc.uniqueArray(rule, { selector: ({ metadata }) => metadata.name ?? '', maxLength: 6 });

  it('given the same rules in any order, when asked, then the answer is the same', () => {
    fc.assert(
      fc.property(rules, fc.integer(), (some, seed) => {
        const shuffled = some.toSorted(
          (a, b) => ((seed ^ (a.metadata.name ?? '').length) % 2 ? -1 : 1) * byPrecedence(a, b),
        );
        const names = (list: typeof some) => rulesFor(list, aSource('east'), open).map(({ metadata }) => metadata.name);
        expect(names(shuffled)).toEqual(names(some));
      }),
    );
  });

  it('given rules, when one wins, then none has a higher priority, and none of the same is older', () => {
    fc.assert(
      fc.property(rules, (some) => {
        const [winner, ...others] = rulesFor(some, aSource('east'), open);
        for (const other of others) {
          expect(other.spec.priority ?? 0).toBeLessThanOrEqual(winner?.spec.priority ?? 0);
          if ((other.spec.priority ?? 0) === (winner?.spec.priority ?? 0)) {
            expect(other.metadata.creationTimestamp ?? '').not.toBe('');
            expect((other.metadata.creationTimestamp ?? '') >= (winner?.metadata.creationTimestamp ?? '')).toBe(true);
          }
        }
      }),
    );
  });
});

describe('what a schema cannot tell of a rule', () => {
  it.each([
    [{ key: 'env', operator: 'Is', values: ['a'] }, 'the operator must be one of In, NotIn, Exists, DoesNotExist'],
    [{ key: 'env', operator: 'In', values: [] }, 'needs values'],
    [{ key: 'env', operator: 'Exists', values: ['a'] }, 'takes no values'],
    [{ key: 'env', operator: 'NotIn', values: ['a'] }, undefined],
  ])('given %o, when looked at, then it is told', (expression, expected) => {
    const problem = ruleProblem(aRule('x', { selector: { matchExpressions: [expression] } }));
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toBe(`spec.selector: env ${expression.operator}: ${expected}`);
  });
});
