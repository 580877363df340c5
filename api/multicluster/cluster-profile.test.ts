import { describe, expect, it } from 'vitest';
import { objectSchema } from '../crd.ts';
import { fieldPaths, lintSchema } from '../structural-lint.ts';
import { violations } from '../validate.ts';
import { clusterProfileDescriptor } from './cluster-profile.ts';
import type { ClusterProfile } from './cluster-profile.ts';
import { ClusterProfiles } from './kinds.ts';

const schema = objectSchema(clusterProfileDescriptor);

/** Fields of the inventory API (v1alpha1), with their types. */
const access = (list: string): string[] => [
  `${list} array`,
  `${list}[] object`,
  `${list}[].name string`,
  `${list}[].cluster object`,
  ...['server', 'tls-server-name', 'certificate-authority', 'certificate-authority-data', 'proxy-url'].map(
    (field) => `${list}[].cluster.${field} string`,
  ),
  ...['insecure-skip-tls-verify', 'disable-compression'].map((field) => `${list}[].cluster.${field} boolean`),
  `${list}[].cluster.extensions array`,
  `${list}[].cluster.extensions[] object`,
  `${list}[].cluster.extensions[].name string`,
  `${list}[].cluster.extensions[].extension object*`,
];
const wire = [
  'spec object',
  'spec.displayName string',
  'spec.clusterManager object',
  'spec.clusterManager.name string',
  'status object',
  'status.conditions array',
  'status.conditions[] object',
  ...['type', 'status', 'reason', 'message', 'lastTransitionTime'].map(
    (field) => `status.conditions[].${field} string`,
  ),
  'status.conditions[].observedGeneration integer',
  'status.version object',
  'status.version.kubernetes string',
  'status.properties array',
  'status.properties[] object',
  ...['name', 'value', 'lastObservedTime'].map((field) => `status.properties[].${field} string`),
  ...access('status.accessProviders'),
  ...access('status.credentialProviders'),
];

describe('ClusterProfile', () => {
  it('is structural, and described field by field', () => {
    expect(lintSchema(schema)).toEqual([]);
  });

  it('has every field of the inventory API with its type, and no other', () => {
    const ours = [...fieldPaths(schema)].map(([path, type]) => `${path.slice(1)} ${type}`);
    const general = ['apiVersion string', 'kind string', 'metadata object', ' object'];
    expect(ours.filter((field) => !general.includes(field)).sort()).toEqual([...wire].sort());
  });

  it('requires what the inventory API requires', () => {
    expect(schema.required).toEqual(['spec']);
    expect(schema.properties?.['spec']?.required).toEqual(['clusterManager']);
    const condition = schema.properties?.['status']?.properties?.['conditions']?.items;
    expect([...(condition?.required ?? [])].sort()).toEqual([
      'lastTransitionTime',
      'message',
      'reason',
      'status',
      'type',
    ]);
  });

  it('is addressed the same way with and without its schema', () => {
    const { group, version, kind, plural, namespaced } = clusterProfileDescriptor;
    expect(ClusterProfiles).toEqual({ group, version, kind, plural, namespaced });
  });

  it('given a profile as other managers write it, when it is checked, then nothing is wrong with it', () => {
    const profile: ClusterProfile = {
      apiVersion: 'multicluster.x-k8s.io/v1alpha1',
      kind: 'ClusterProfile',
      metadata: { name: 'east', namespace: 'fleet-default' },
      spec: { displayName: 'East', clusterManager: { name: 'open-cluster-management' } },
      status: {
        conditions: [
          {
            type: 'ControlPlaneHealthy',
            status: 'True',
            reason: 'ManagedClusterAvailable',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
        version: { kubernetes: 'v1.36.3' },
        properties: [{ name: 'cluster.clusterset.k8s.io', value: 'east', lastObservedTime: '2026-01-01T00:00:00Z' }],
        accessProviders: [
          {
            name: 'kubeconfig-secretreader',
            cluster: {
              server: 'https://east:6443',
              extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { name: 'x', key: 'value' } }],
            },
          },
        ],
      },
    };
    expect(violations(clusterProfileDescriptor.schema, profile)).toEqual([]);
  });
});
