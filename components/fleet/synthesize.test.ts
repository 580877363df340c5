import { ApiObject, Chart } from 'cdk8s';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { synthesize } from './synthesize.ts';

function chartOf(...objects: KubeObject[]): KubeObject[] {
  return synthesize((app) => {
    const chart = new Chart(app, 'chart');
    objects.forEach((object, index) => new ApiObject(chart, `object-${index}`, object));
    return chart;
  });
}

const object = (kind: string, name: string, namespace?: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});

test('given objects in any order, when synthesized, then what others need comes first', () => {
  const objects = chartOf(
    object('Deployment', 'a', 'n'),
    object('Secret', 's', 'n'),
    object('ClusterRole', 'b'),
    object('ClusterRole', 'a'),
    object('ValidatingAdmissionPolicy', 'p'),
    object('Namespace', 'n'),
  );
  expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'Namespace n',
    'ValidatingAdmissionPolicy p',
    'ClusterRole a',
    'ClusterRole b',
    'Secret s',
    'Deployment a',
  ]);
});

test.each([
  [object('ClusterRole', 'r', 'n'), 'is cluster-scoped and has a namespace'],
  [object('Secret', 's'), 'has no namespace'],
  [object('Unheard', 'u'), 'no place'],
])('given a manifest that would be wrong (%j), when synthesized, then it is refused', (bad, message) => {
  expect(() => chartOf(bad)).toThrow(message);
});
