import { App, Chart, Testing } from 'cdk8s';
import { describe, expect, test } from 'vitest';
import { ClusterGroup, synthClusterGroup } from './cluster-group.ts';
import { RegisteredCluster, synthCluster } from './registered-cluster.ts';
import { RegistrationToken, synthRegistrationToken } from './registration-token.ts';

describe('given constructs in a chart of the user', () => {
  test('the objects have the explicit names, and credentials are references', () => {
    const chart = new Chart(new App(), 'fleet');
    const token = new RegistrationToken(chart, 'stores', { name: 'stores', ttl: '12h' });
    new RegisteredCluster(chart, 'east', { name: 'east', kubeconfigSecret: { name: 'east-kubeconfig' } });
    new ClusterGroup(chart, 'prod', { name: 'prod', selector: { matchLabels: { env: 'prod' } } });
    expect(token).toMatchObject({ name: 'stores', namespace: 'fleet-default', secretName: 'stores' });
    const metadata = (name: string) => ({ name, namespace: 'fleet-default' });
    const apiVersion = 'fleet.cattle.io/v1alpha1';
    expect(Testing.synth(chart)).toEqual([
      { apiVersion, kind: 'ClusterRegistrationToken', metadata: metadata('stores'), spec: { ttl: '12h' } },
      { apiVersion, kind: 'Cluster', metadata: metadata('east'), spec: { kubeConfigSecret: 'east-kubeconfig' } },
      {
        apiVersion,
        kind: 'ClusterGroup',
        metadata: metadata('prod'),
        spec: { selector: { matchLabels: { env: 'prod' } } },
      },
    ]);
  });

  test('a token for one cluster says so', () => {
    const [token] = synthRegistrationToken({ name: 't', oneUse: true, annotations: { note: 'x' } });
    expect(token?.metadata.annotations).toEqual({ note: 'x', 'muster.dev/one-use': 'true' });
  });

  test('two clusters of one construct id in two scopes do not collide', () => {
    const chart = new Chart(new App(), 'fleet');
    for (const name of ['a', 'b']) new RegisteredCluster(chart, name, { name, clientID: `id-${name}` });
    expect(Testing.synth(chart)).toHaveLength(2);
  });
});

describe('given every setting of an agent', () => {
  test('each is a field of the Cluster', () => {
    const [cluster] = synthCluster({
      name: 'east',
      namespace: 'edge',
      labels: { env: 'prod', 'fleet.cattle.io/cluster-management': 'mine' },
      annotations: { note: 'x' },
      kubeconfigSecret: { name: 'k', namespace: 'fleet-default' },
      redeploy: 2,
      paused: true,
      templateValues: { a: { b: 1 } },
      agent: {
        namespace: 'agents',
        envVars: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }],
        tolerations: [{ key: 'k', operator: 'Exists' }],
        affinity: { nodeAffinity: {} },
        resources: { limits: { memory: '64Mi' } },
        schedulingCustomization: { priorityClass: { value: 1 } },
        imagePullSecrets: ['pull'],
        hostNetwork: true,
        privateRepoURL: 'registry.test',
      },
    });
    expect(cluster).toMatchObject({
      metadata: { namespace: 'edge', labels: { env: 'prod', 'fleet.cattle.io/cluster-management': 'mine' } },
      spec: {
        kubeConfigSecret: 'k',
        kubeConfigSecretNamespace: 'fleet-default',
        redeployAgentGeneration: 2,
        paused: true,
        templateValues: { a: { b: 1 } },
        agentNamespace: 'agents',
        agentEnvVars: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }],
        agentTolerations: [{ key: 'k', operator: 'Exists' }],
        agentAffinity: { nodeAffinity: {} },
        agentResources: { limits: { memory: '64Mi' } },
        agentSchedulingCustomization: { priorityClass: { value: 1 } },
        agentPullSecrets: [{ name: 'pull' }],
        hostNetwork: true,
        privateRepoURL: 'registry.test',
      },
    });
  });
});

describe('given something wrong', () => {
  test.each([
    ['a name that is none', () => synthCluster({ name: 'East', clientID: 'x' }), 'Cluster.name'],
    ['no way to register', () => synthCluster({ name: 'east' }), 'kubeconfigSecret and clientID'],
    [
      'both ways',
      () => synthCluster({ name: 'east', clientID: 'x', kubeconfigSecret: { name: 'k' } }),
      'kubeconfigSecret and clientID',
    ],
    ['redeploy by nobody', () => synthCluster({ name: 'east', clientID: 'x', redeploy: 1 }), 'redeploy'],
    ['a life that is no duration', () => synthRegistrationToken({ name: 't', ttl: 'long' }), 'ttl'],
    ['a bad label', () => synthRegistrationToken({ name: 't', labels: { 'a b': '' } }), 'labels'],
    [
      'a selector without a key',
      () => synthClusterGroup({ name: 'g', selector: { matchExpressions: [{ operator: 'Exists' }] as never } }),
      'matchExpressions[0].key',
    ],
  ])('%s is refused with its place', (_, synth, place) => {
    expect(synth).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
    const text = (() => {
      try {
        synth();
        return '';
      } catch (error) {
        return (error as { describe(): string }).describe();
      }
    })();
    expect(text).toContain(place);
  });
});
