import { App, Chart, Testing } from 'cdk8s';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import {
  Agent,
  ClusterGroup,
  GitRepo,
  Hub,
  RegisteredCluster,
  RegistrationToken,
  resourceTypeOf,
  synthAgent,
  synthCluster,
  synthClusterGroup,
  synthGitRepo,
  synthHub,
  synthRegistrationToken,
} from './index.ts';
import type { GitRepoProps, RegisteredClusterProps } from './index.ts';

const image = 'muster:test';
const chartOf = (props: ConstructorParameters<typeof Chart>[2] = {}): Chart => new Chart(new App(), 'chart', props);
const synthesized = (chart: Chart): KubeObject[] => Testing.synth(chart) as KubeObject[];
const key = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
const sorted = (objects: KubeObject[]) => [...objects].sort((a, b) => (key(a) < key(b) ? -1 : 1));

describe('given hub and agent in one chart of the user', () => {
  test('when synthesized, then they are what the functions give', () => {
    const chart = chartOf();
    const hub = new Hub(chart, 'hub', { image, config: {}, workspaces: ['team-a'] });
    new Agent(chart, 'agent', { image, namespace: 'edge' });
    expect(hub).toMatchObject({ namespace: 'cattle-fleet-system', workspaces: ['team-a'] });
    expect(sorted(synthesized(chart))).toEqual(
      sorted([...synthHub({ image, config: {}, workspaces: ['team-a'] }), ...synthAgent({ image, namespace: 'edge' })]),
    );
  });

  test('when the chart has a namespace, then it is written on nothing that has none, nor on what has its own', () => {
    const chart = chartOf({ namespace: 'mine', labels: { team: 'a' } });
    new Hub(chart, 'hub', { image, config: {} });
    new ClusterGroup(chart, 'group', { name: 'g', selector: {} });
    for (const object of synthesized(chart)) {
      const { namespaced } = resourceTypeOf(object);
      expect(object.metadata.namespace, key(object)).not.toBe('mine');
      expect('namespace' in object.metadata, key(object)).toBe(namespaced);
      expect(object.metadata.labels, key(object)).toMatchObject({ team: 'a' });
    }
  });

  test.each<[string, () => unknown]>([
    ['Hub.protocol', () => new Hub(chartOf(), 'a', { image, config: {}, protocol: 'ocm' as never })],
    ['Agent.protocol', () => new Agent(chartOf(), 'a', { image, protocol: 'ocm' as never })],
    ['RegisteredCluster.protocol', () => synthCluster({ name: 'a', clientID: 'a', protocol: 'ocm' as never })],
    ['RegistrationToken.protocol', () => synthRegistrationToken({ name: 'a', protocol: 'ocm' as never })],
  ])('when %s is unknown, then it is refused', (where, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'UNSUPPORTED', where }) as Error);
  });
});

describe('given the factories of a cluster', () => {
  const specs = (make: (chart: Chart) => unknown) => {
    const chart = chartOf();
    make(chart);
    return synthesized(chart);
  };

  test('fromKubeconfigSecret refers to the Secret', () => {
    expect(
      specs((chart) =>
        RegisteredCluster.fromKubeconfigSecret(
          chart,
          'a',
          'east',
          { name: 'k', namespace: 'ns' },
          { labels: { a: 'b' } },
        ),
      ),
    ).toMatchObject([
      {
        metadata: { name: 'east', labels: { a: 'b' } },
        spec: { kubeConfigSecret: 'k', kubeConfigSecretNamespace: 'ns' },
      },
    ]);
  });

  test('fromClientId waits for the agent', () => {
    expect(specs((chart) => RegisteredCluster.fromClientId(chart, 'a', 'store', 'store-17'))).toMatchObject([
      { metadata: { name: 'store' }, spec: { clientID: 'store-17' } },
    ]);
  });

  test('fromClusterApi takes the Secret that Cluster API makes, and its namespace as the workspace', () => {
    const source = { name: 'east', namespace: 'team-a' };
    expect(
      specs((chart) => {
        RegisteredCluster.fromClusterApi(chart, 'a', source);
        RegisteredCluster.fromClusterApi(chart, 'b', source, { name: 'prod', namespace: 'fleet-default' });
      }),
    ).toMatchObject([
      {
        metadata: { name: 'east', namespace: 'team-a' },
        spec: { kubeConfigSecret: 'east-kubeconfig', kubeConfigSecretNamespace: 'team-a' },
      },
      {
        metadata: { name: 'prod', namespace: 'fleet-default' },
        spec: { kubeConfigSecret: 'east-kubeconfig', kubeConfigSecretNamespace: 'team-a' },
      },
    ]);
  });
});

describe('given references between constructs', () => {
  test('when a GitRepo has targets, then clusters, groups and criteria are what they select by', () => {
    const chart = chartOf();
    const east = RegisteredCluster.fromClientId(chart, 'east', 'east', 'east');
    const edge = ClusterGroup.selecting(chart, 'edge', 'edge', { tier: 'edge' });
    const all = ClusterGroup.selecting(chart, 'all', 'all', {});
    const there = ClusterGroup.fromClusterGroupName(chart, 'there', 'there');
    const west = RegisteredCluster.fromRegisteredClusterName(chart, 'west', 'west');
    const repo = new GitRepo(chart, 'apps', {
      name: 'apps',
      repo: 'https://git.test/apps',
      revision: 'v1',
      paths: ['a'],
      targets: [east, edge, there, west, { name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } } }],
    });
    expect(synthesized(chart).filter(({ kind }) => kind === 'GitRepo')).toMatchObject([
      {
        metadata: { name: 'apps', namespace: 'fleet-default' },
        spec: {
          targets: [
            { clusterName: 'east' },
            { clusterGroup: 'edge' },
            { clusterGroup: 'there' },
            { clusterName: 'west' },
            { name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } } },
          ],
        },
      },
    ]);
    expect(synthesized(chart).filter(({ metadata }) => ['there', 'west'].includes(metadata.name ?? ''))).toEqual([]);
    expect([repo.name, all.target]).toEqual(['apps', { clusterGroup: 'all' }]);
  });

  test('when objects exist already, then a reference has their name and workspace', () => {
    const chart = chartOf();
    const token = RegistrationToken.fromRegistrationTokenName(chart, 't', 'stores', { namespace: 'team-a' });
    expect(token).toMatchObject({ name: 'stores', namespace: 'team-a', secretName: 'stores' });
    expect(GitRepo.fromGitRepoName(chart, 'r', 'apps')).toMatchObject({ name: 'apps', namespace: 'fleet-default' });
    expect(synthesized(chart)).toEqual([]);
  });

  const repo = { name: 'apps', repo: 'https://git.test/apps' };
  test.each<[string, () => unknown, string]>([
    [
      'a group of another workspace',
      () => {
        const chart = chartOf();
        const group = ClusterGroup.fromClusterGroupName(chart, 'g', 'g', { namespace: 'team-a' });
        new GitRepo(chart, 'r', { ...repo, targets: [group] });
      },
      'is in team-a, not in fleet-default',
    ],
    ['criteria that select nothing', () => synthGitRepo({ ...repo, targets: [{ name: 'a' }] }), 'selects nothing'],
    ['branch and revision', () => synthGitRepo({ ...repo, branch: 'a', revision: 'b' }), 'both set'],
    ['no repository', () => synthGitRepo({ ...repo, repo: '' }), 'repo'],
    ['a bad interval', () => synthGitRepo({ ...repo, pollingInterval: 'often' }), 'pollingInterval'],
    ['a name that is none', () => RegisteredCluster.fromRegisteredClusterName(chartOf(), 'a', 'A'), 'not a valid name'],
  ])('when there is %s, then it is refused', (_, make, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error);
  });
});

describe('given the same props in another order', () => {
  const shuffled = (value: object) =>
    fc
      .shuffledSubarray(Object.entries(value), { minLength: Object.keys(value).length })
      .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);
  const hub = {
    image,
    replicas: 2,
    workspaces: ['a', 'b'],
    imagePullSecrets: ['p'],
    envVars: [{ name: 'A', value: 'b' }],
    resources: { limits: { cpu: 1, memory: '1Gi' }, requests: { cpu: '10m' } },
  };
  const config = {
    apiServerURL: 'https://hub',
    agentWorkers: { drift: '1', bundledeployment: '2' },
    agentTLSMode: 'strict',
  };
  const cluster: RegisteredClusterProps = {
    name: 'east',
    kubeconfigSecret: { name: 'k' },
    labels: { b: '1', a: '2' },
    templateValues: { z: 1, a: { y: 1, b: 2 } },
    agent: { namespace: 'n', hostNetwork: true },
  };
  const repo: GitRepoProps = { name: 'r', repo: 'https://a', paths: ['b', 'a'], branch: 'main', paused: true };
  const group = { name: 'g', selector: { matchLabels: { b: '1', a: '2' } }, labels: { x: 'y', a: 'b' } };

  test('when synthesized, then the bytes are the same', () => {
    const bytes = (objects: KubeObject[]) => JSON.stringify(objects);
    const expected = [
      bytes(synthHub({ ...hub, config })),
      bytes(synthCluster(cluster)),
      bytes(synthGitRepo(repo)),
      bytes(synthClusterGroup(group)),
    ];
    fc.assert(
      fc.property(
        shuffled(hub),
        shuffled(config),
        shuffled(cluster),
        shuffled(repo),
        shuffled(group),
        shuffled(cluster.templateValues ?? {}),
        (h, c, k, r, g, templateValues) => {
          expect([
            bytes(synthHub({ ...h, config: c } as never)),
            bytes(synthCluster({ ...k, templateValues } as never)),
            bytes(synthGitRepo(r as never)),
            bytes(synthClusterGroup(g as never)),
          ]).toEqual(expected);
        },
      ),
      { numRuns: 25 },
    );
  });
});
