import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkLabels, edgeConfigLabels, isLabelKey, isLabelValue, registrationLabels } from './labels.ts';

const long = 'a'.repeat(64);

describe('checkLabels', () => {
  it.each(['a', 'A.b_c-9', 'example.com/name', `${'a'.repeat(63)}`, '9'])(
    'given the key %s, then it is valid',
    (key) => {
      expect(isLabelKey(key)).toBe(true);
    },
  );

  it.each(['', '-a', 'a-', 'a b', long, '/a', 'a/', 'A.com/x', 'a/b/c', 'ü'])(
    'given the key %j, then it is not',
    (key) => {
      expect(isLabelKey(key)).toBe(false);
    },
  );

  it.each(['', 'prod', 'A_b.c-d', '1'])('given the value %j, then it is valid', (value) => {
    expect(isLabelValue(value)).toBe(true);
  });

  it.each(['a/b', '-', 'a ', long, '.a'])('given the value %j, then it is not', (value) => {
    expect(isLabelValue(value)).toBe(false);
  });

  it('given several mistakes, when they are checked, then all of them are named', () => {
    expect(() =>
      checkLabels({ ok: 'x', 'bad key': 'x', env: 'not valid', n: 1 as unknown as string }, 'spec.labels'),
    ).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        where: 'spec.labels',
        message:
          '["bad key"] is not a valid label key; ["env"] has a value that is not a valid label value; ["n"] must be a text',
      }),
    );
    const labels = { env: 'prod' };
    expect(checkLabels(labels)).toBe(labels);
  });
});

describe('labels of requests', () => {
  const given = {
    env: 'prod',
    'example.com/tier': '1',
    'fleet.cattle.io/created-by-agent-pod': 'pod-1',
    'fleet.cattle.io/cluster-management': 'x',
    'fleet.cattle.io/managed': 'true',
    'management.cattle.io/cluster-display-name': 'mine',
    bad: 'not valid',
  };

  it('when a Cluster is made, then it gets no label that steers the hub and none that would be refused', () => {
    expect(registrationLabels(given)).toEqual({
      env: 'prod',
      'example.com/tier': '1',
      'fleet.cattle.io/created-by-agent-pod': 'pod-1',
    });
  });

  it('when the hub ignores labels, or there are none, then there are none', () => {
    expect(registrationLabels(given, { ignore: true })).toEqual({});
    expect(registrationLabels(null)).toEqual({});
  });

  it('any labels come out valid', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (labels) => {
        expect(() => checkLabels(registrationLabels(labels))).not.toThrow();
      }),
    );
  });

  it('when they are handed to an imported agent, then those of Rancher and kubectl stay behind', () => {
    expect(
      edgeConfigLabels({ env: 'x', 'a.cattle.io/b': 'x', 'kubectl.kubernetes.io/c': 'x', 'k8s.io/d': 'x' }),
    ).toEqual({
      env: 'x',
      'k8s.io/d': 'x',
    });
    expect(edgeConfigLabels(undefined)).toEqual({});
  });
});
