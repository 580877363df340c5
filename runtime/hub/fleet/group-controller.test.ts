import { describe, expect, it } from 'vitest';
import { groupStatus } from './group-controller.ts';
import { selects } from './label-selector.ts';

const cluster = (name: string, ready: boolean, env = 'dev') => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name, namespace: 'ws', labels: { env } },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const group = (status = {}) => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'ClusterGroup',
  metadata: { name: 'g', namespace: 'ws' },
  spec: { selector: { matchLabels: { env: 'dev' } } },
  status,
});

describe('a group', () => {
  it('given Clusters, when counted, then only selected ones count and the others are named', () => {
    const all = [cluster('b', false), cluster('a', false), cluster('c', true), cluster('d', false, 'prod')];
    expect(groupStatus(group(), all)).toEqual({
      clusterCount: 3,
      nonReadyClusterCount: 2,
      nonReadyClusters: ['a', 'b'],
    });
  });
  it('given that all became ready, when counted, then no name stays', () => {
    expect(groupStatus(group({ nonReadyClusters: ['a'] }), [cluster('a', true)])).toEqual({
      clusterCount: 1,
      nonReadyClusterCount: 0,
    });
  });
});

describe('selectors', () => {
  const labels = { env: 'dev' };
  it.each([
    [undefined, false],
    [{}, true],
    [{ matchLabels: { env: 'dev' } }, true],
    [{ matchLabels: { env: 'prod' } }, false],
    [{ matchExpressions: [{ key: 'env', operator: 'In', values: ['dev', 'x'] }] }, true],
    [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }, true],
    [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }, false],
    [{ matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }, true],
    [{ matchExpressions: [{ key: 'env', operator: 'Near' }] }, false],
  ])('given %j, when matched, then %s', (selector, expected) => {
    expect(selects(selector, labels)).toBe(expected);
  });
});
