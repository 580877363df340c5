import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings, Roles } from '../../api/kubernetes/rbac.ts';
import type { RoleRef } from '../../api/kubernetes/rbac.ts';
import { BundleDeployments, Clusters, Contents } from '../../api/fleet/kinds.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { applyAll, startHubPlane } from '../../test/support/hub-plane.ts';
import type { HubPlane } from '../../test/support/hub-plane.ts';
import { grantRoles, policyNames } from './names.ts';

const workspace = 'fleet-default';
const namespace = 'cluster-fleet-default-a-0123456789ab';
const elsewhere = 'cluster-fleet-default-b-0123456789ab';
const rbac = 'rbac.authorization.k8s.io';
const subjects = [{ kind: 'ServiceAccount' as const, namespace, name: 'agent' }];

let hub: HubPlane;
let agent: KubeClient;

beforeAll(async () => {
  hub = await startHubPlane('agent-access');
  const metadata = { labels: { 'fleet.cattle.io/managed': 'true' } };
  await applyAll(hub.admin, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata, name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'agent', namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'other', namespace } },
  ]);
  const bind = (target: string, kind: RoleRef['kind'], name: string) => ({
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace: target },
    roleRef: { apiGroup: rbac, kind, name } as const,
    subjects,
  });
  await hub.admin.create(RoleBindings, bind(namespace, 'ClusterRole', grantRoles.bundleDeployment));
  await hub.admin.create(RoleBindings, bind(namespace, 'ClusterRole', grantRoles.credentialRenewal));
  await hub.admin.create(ClusterRoleBindings, {
    ...bind('', 'ClusterRole', grantRoles.content),
    kind: 'ClusterRoleBinding',
    metadata: { name: grantRoles.content },
  });
  // Wider than the hub grants, so that the policy is what refuses.
  await hub.admin.create(Roles, {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: { name: 'report', namespace: workspace },
    rules: [{ apiGroups: ['fleet.cattle.io'], resources: ['clusters/status'], verbs: ['patch'] }],
  });
  await hub.admin.create(RoleBindings, bind(workspace, 'Role', 'report'));
  await register('a', namespace);
  await register('b', elsewhere);
  agent = await hub.as({ namespace, name: 'agent' });
});
afterAll(() => hub?.close());

async function register(name: string, clusterNamespace: string): Promise<void> {
  const cluster: Cluster = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, namespace: workspace },
    spec: { clientID: name },
  };
  await hub.admin.create(Clusters, cluster);
  const status = { namespace: clusterNamespace, apiServerURL: 'https://hub', readyGitRepos: 3 };
  await hub.admin.patch(Clusters, { namespace: workspace, name }, { status }, { type: 'merge', subresource: 'status' });
}

const report = async (name: string, type: 'merge' | 'json', patch: unknown): Promise<Cluster> =>
  await agent.patch(Clusters, { namespace: workspace, name }, patch, { type, subresource: 'status' });
const seen = { lastSeen: '2026-11-29T00:00:00Z', namespace: 'cattle-fleet-system' };

describe('given a registered agent, when it reports', () => {
  test('its heartbeat is accepted', async () => {
    const cluster = await report('a', 'json', [{ op: 'add', path: '/status/agent', value: seen }]);
    expect(cluster.status).toMatchObject({ namespace, apiServerURL: 'https://hub', readyGitRepos: 3, agent: seen });
  });

  test('the zeroed status of agents up to 0.12 is accepted', async () => {
    const zeroed = {
      summary: { desiredReady: 0, ready: 0 },
      resourceCounts: { desiredReady: 0, ready: 0, missing: 0 },
      readyGitRepos: 0,
      desiredReadyGitRepos: 0,
      readyHelmOps: 0,
      desiredReadyHelmOps: 0,
      display: {},
      agent: seen,
    };
    const cluster = await report('a', 'merge', { spec: {}, status: zeroed });
    expect(cluster.status).toMatchObject({ namespace, apiServerURL: 'https://hub', agent: seen });
  });

  test.each<[string, Record<string, unknown>]>([
    ['another cluster namespace', { namespace: elsewhere }],
    ['no cluster namespace', { namespace: null }],
    ['another hub', { apiServerURL: 'https://evil' }],
    ['conditions', { conditions: [{ type: 'Ready', status: 'True' }] }],
    ['what the hub has deployed', { agentDeployedGeneration: 7 }],
  ])('%s is refused', async (_, status) => {
    await expect(report('a', 'merge', { status })).rejects.toThrow(policyNames.agentStatus);
  });

  test('the Cluster of another one is refused', async () => {
    await expect(report('b', 'merge', { status: { agent: seen } })).rejects.toThrow(policyNames.agentStatus);
  });
});

describe('given a registered agent, when it issues a token', () => {
  const day = { expirationSeconds: 86_400 };

  test('its own next one is accepted', async () => {
    expect((await agent.createToken({ namespace, name: 'agent' }, day)).token).toBeTruthy();
  });
  test('that of another account of its namespace is refused', async () => {
    await expect(agent.createToken({ namespace, name: 'other' }, day)).rejects.toThrow(policyNames.agentTokens);
  });
  test('one that lives for years is refused', async () => {
    const years = { expirationSeconds: 10 * 365 * 86_400 };
    await expect(agent.createToken({ namespace, name: 'agent' }, years)).rejects.toThrow(policyNames.agentTokens);
  });
});

test('given another program in a namespace named cluster-…, when it issues tokens there, then it may', async () => {
  const other = 'cluster-operator';
  await applyAll(hub.admin, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'operator', namespace: other } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'worker', namespace: other } },
  ]);
  await hub.admin.create(RoleBindings, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'tokens', namespace: other },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: grantRoles.credentialRenewal },
    subjects: [{ kind: 'ServiceAccount', namespace: other, name: 'operator' }],
  });
  const operator = await hub.as({ namespace: other, name: 'operator' });
  const issue = () => operator.createToken({ namespace: other, name: 'worker' }, { expirationSeconds: 3600 });
  await expect.poll(() => issue().then(({ token }) => token !== '', String)).toBe(true);
});

describe('given a registered agent, when it asks for anything else, then it is forbidden', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['all accounts', () => agent.list(ServiceAccounts, { namespace })],
    ['all Clusters', () => agent.list(Clusters, { namespace: workspace })],
    ['its own Cluster', () => agent.get(Clusters, { namespace: workspace, name: 'a' })],
    ['Secrets by list', () => agent.list(Secrets, { namespace })],
    ['a Secret of the workspace', () => agent.get(Secrets, { namespace: workspace, name: 'kubeconfig' })],
    ['Contents by list', () => agent.list(Contents)],
  ])('%s', async (_, request) => {
    await expect(request()).rejects.toThrow('forbidden');
  });

  test('but it reads its bundles and a Content by its name', async () => {
    expect((await agent.list(BundleDeployments, { namespace })).items).toEqual([]);
    await expect(agent.get(Contents, { name: 's-none' })).rejects.toThrow('not found');
  });
});
