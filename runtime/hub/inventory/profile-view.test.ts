import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { clusterProfileDescriptor } from '../../../api/multicluster/cluster-profile.ts';
import { violations } from '../../../api/validate.ts';
import { difference } from '../fleet/status-writer.ts';
import { isOurProfile, isSourceOf, profileChange } from './profile-change.ts';
import { passedAnnotation, wantedProfile, wantedStatus } from './profile-view.ts';

const then = '2026-01-01T00:00:00Z';
const now = new Date('2026-02-02T00:00:00Z');

function cluster(parts: Partial<Cluster['metadata']> = {}, agent: object = {}, reachable = 'True'): Cluster {
  return {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'east', namespace: 'fleet-default', uid: 'u1', labels: { env: 'prod' }, ...parts },
    spec: { clientID: 'secret-identity' },
    status: {
      agent: { lastSeen: then, ...agent },
      conditions: [
        { type: 'Registered', status: 'True', reason: 'Succeeded', lastTransitionTime: then },
        { type: 'AgentReachable', status: reachable, reason: 'CheckedIn', message: 'm', lastTransitionTime: then },
      ],
    },
  };
}

const view = (of: Cluster, clusterSet?: string) => ({ cluster: of, clusterSet, providers: [] });

describe('the profile of a Cluster', () => {
  it('given labels, when it is made, then those of users go along and those that steer programs do not', () => {
    const labels = {
      env: 'prod',
      'topology.kubernetes.io/region': 'eu',
      'fleet.cattle.io/cluster': 'x',
      'management.cattle.io/cluster-display-name': 'East',
      'muster.dev/rule': 'x',
      'app.kubernetes.io/instance': 'argo-app',
      'x-k8s.io/cluster-manager': 'someone',
      'argocd.argoproj.io/secret-type': 'repository',
    };
    const profile = wantedProfile(view(cluster({ labels })));
    expect(profile.metadata.labels).toEqual({
      env: 'prod',
      'topology.kubernetes.io/region': 'eu',
      'x-k8s.io/cluster-manager': 'muster',
      'app.kubernetes.io/managed-by': 'muster',
    });
    expect(profile.spec).toEqual({ displayName: 'East', clusterManager: { name: 'muster' } });
    expect(profile.metadata.ownerReferences).toEqual([
      { apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'Cluster', name: 'east', uid: 'u1' },
    ]);
    expect(JSON.stringify(profile)).not.toContain('secret-identity');
  });

  it('given what the agent tells, when it is made, then version, nodes and health are in it, as the kind wants them', () => {
    const of = view(cluster({}, { kubernetesVersion: 'v1.36.3', nodes: 3 }));
    const status = wantedStatus(undefined, of, now);
    expect(status.version).toEqual({ kubernetes: 'v1.36.3' });
    expect(status.properties).toEqual([{ name: 'muster.dev/nodes', value: '3' }]);
    expect(
      status.conditions?.map(({ type, status: is, lastTransitionTime }) => [type, is, lastTransitionTime]),
    ).toEqual([
      ['ControlPlaneHealthy', 'True', then],
      ['Joined', 'True', then],
    ]);
    expect(status.accessProviders).toBeUndefined();
    expect(violations(clusterProfileDescriptor.schema, { ...wantedProfile(of), status })).toEqual([]);
  });

  it('given an agent that is silent, when it is made, then nobody knows how the control plane is', () => {
    const status = wantedStatus(undefined, view(cluster({}, {}, 'False')), now);
    expect(status.conditions?.[0]).toMatchObject({ type: 'ControlPlaneHealthy', status: 'Unknown' });
  });

  it('given a workspace that is a ClusterSet, when it is made, then the standard properties name it', () => {
    expect(wantedStatus(undefined, view(cluster(), 'stores'), now).properties).toEqual([
      { name: 'cluster.clusterset.k8s.io', value: 'east' },
      { name: 'clusterset.k8s.io', value: 'stores' },
    ]);
    const own = { 'cluster.clusterset.k8s.io': 'store-17' };
    expect(wantedStatus(undefined, view(cluster({ labels: own }), 'stores'), now).properties?.[0]?.value).toBe(
      'store-17',
    );
  });

  it('given a heartbeat, when it is made again, then nothing differs', () => {
    const before = wantedStatus(undefined, view(cluster()), now);
    const later = view(cluster({}, { lastSeen: '2026-03-03T00:00:00Z' }));
    expect(difference(before, wantedStatus(before, later, new Date()))).toBeUndefined();
  });

  it('given parts that others have written, when it is made again, then they stay', () => {
    const theirs = { type: 'Theirs', status: 'True', reason: 'X', message: '', lastTransitionTime: then } as const;
    const before = {
      conditions: [theirs],
      properties: [{ name: 'gpu', value: '8' }],
      accessProviders: [{ name: 'theirs', cluster: { server: 'https://x' } }],
    };
    const status = wantedStatus(before, view(cluster()), now);
    expect(status.conditions).toContainEqual(theirs);
    expect(status.properties).toEqual(before.properties);
    expect(status.accessProviders).toEqual(before.accessProviders);
  });
});

describe('what has to be written', () => {
  const wanted = wantedProfile(view(cluster()));

  it('given a profile as wanted, with labels of others, then nothing', () => {
    const current = { ...wanted, metadata: { ...wanted.metadata, labels: { ...wanted.metadata.labels, theirs: 'x' } } };
    expect(profileChange(current, wanted)).toBeUndefined();
  });

  it('given a label that the Cluster has lost, then it is taken away, and one of others of the same kind is not', () => {
    const current = wantedProfile(view(cluster({ labels: { env: 'prod', tier: 'edge' } })));
    current.metadata.labels = { ...current.metadata.labels, theirs: 'x' };
    expect(profileChange(current, wantedProfile(view(cluster({ labels: { env: 'test' } }))))).toEqual({
      metadata: { labels: { env: 'test', tier: null }, annotations: { [passedAnnotation]: 'env' } },
    });
  });

  it('given a profile of an earlier Cluster of that name, then the owner is the new one', () => {
    expect(profileChange(wantedProfile(view(cluster({ uid: 'u0' }))), wanted)).toEqual({
      metadata: { ownerReferences: wanted.metadata.ownerReferences },
    });
  });

  it('given a profile of another manager, or one that a user made, then it is not ours', () => {
    expect(isOurProfile(wanted)).toBe(true);
    expect(isOurProfile({ ...wanted, spec: { clusterManager: { name: 'other' } } })).toBe(false);
    expect(isOurProfile({ ...wanted, metadata: { name: 'east' } })).toBe(false);
  });

  it('given a profile that a rule made the Cluster of, then that is in the inventory already', () => {
    const theirs = { ...wanted, spec: { clusterManager: { name: 'other' } } };
    const made = cluster({ annotations: { 'muster.dev/source': 'ClusterProfile/fleet-default/east' } });
    expect([isSourceOf(made, theirs), isSourceOf(made, wanted), isSourceOf(cluster(), theirs)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
