import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { annotations } from '../../api/fleet/constants.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { ClusterStatus } from '../../api/fleet/kinds.ts';
import { ServiceAccounts } from '../../api/kubernetes/core.ts';
import { RoleBindings } from '../../api/kubernetes/rbac.ts';
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';
import type { KubeObject } from '../../api/resource.ts';
import { startHubPlane } from '../../test/support/hub-plane.ts';
import { account, bind, namespaceOf, rbac, role, sa } from '../../test/support/rbac-objects.ts';
import type { HubPlane } from '../../test/support/hub-plane.ts';
import { resourceTypeOf } from './kinds.ts';
import { policyNames, workspaceLabel } from './names.ts';

const system = 'cattle-fleet-system';
const registration = 'cattle-fleet-clusters-system';
const workspace = 'fleet-default';
const own = 'cluster-fleet-default-a-0123456789ab';
const managed = { 'fleet.cattle.io/managed': 'true' };
const user = `system:serviceaccount:${system}:muster-hub`;

let it: HubPlane;
beforeAll(async () => {
  it = await startHubPlane('hub-access');
  const pod: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster-autoscaler' } };
  await it.admin.apply(resourceTypeOf(pod), pod, { fieldManager: 'test' });
});
afterAll(() => it?.close());

describe('given the rights of the hub, when the API server is asked', () => {
  const allowed: [verb: string, resource: string, namespace?: string, name?: string][] = [
    ['bind', 'rbac.authorization.k8s.io/clusterroles', '', 'fleet-content'],
    ['bind', 'rbac.authorization.k8s.io/clusterroles', '', 'muster-hub-namespace'],
    ['escalate', 'rbac.authorization.k8s.io/roles', workspace],
    ['get', '/secrets', workspace, 'kubeconfig'],
    ['watch', '/secrets', registration],
    ['list', '/secrets', system],
    ['create', '/namespaces'],
    ['patch', 'fleet.cattle.io/clusters', 'team-a', 'a'],
    // which: policy muster-hub-deletions
    ['delete', 'fleet.cattle.io/clusters', workspace, 'a'],
  ];
  const denied: typeof allowed = [
    ['bind', 'rbac.authorization.k8s.io/clusterroles', '', 'cluster-admin'],
    ['bind', 'rbac.authorization.k8s.io/roles', 'kube-system', 'any'],
    ['escalate', 'rbac.authorization.k8s.io/roles', 'kube-system'],
    ['escalate', 'rbac.authorization.k8s.io/clusterroles'],
    ['create', 'rbac.authorization.k8s.io/clusterroles'],
    ['create', 'rbac.authorization.k8s.io/roles', 'kube-system'],
    ['get', '/secrets', 'kube-system', 'any'],
    ['list', '/secrets'],
    ['list', '/secrets', own],
    ['create', '/secrets', system],
    ['create', 'apps/deployments', system],
    ['create', '/pods', workspace],
    ['impersonate', '/users'],
    ['update', 'admissionregistration.k8s.io/validatingadmissionpolicies', '', policyNames.hubRoles],
  ];

  test.each(allowed)('it may %s %s in %s %s', async (...attributes) => {
    expect(await review(...attributes)).toBe(true);
  });
  test.each(denied)('it may not %s %s in %s %s', async (...attributes) => {
    expect(await review(...attributes)).toBe(false);
  });
});

async function review(verb: string, resource: string, namespace = '', name = ''): Promise<boolean> {
  const [group = '', plural = ''] = resource.split('/');
  const answer = await it.admin.raw('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    method: 'POST',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${system}`, 'system:authenticated'],
        resourceAttributes: { verb, group, resource: plural, namespace, name },
      },
    },
  });
  return (answer as { status: { allowed: boolean } }).status.allowed;
}

const createRequests: PolicyRule = {
  apiGroups: ['fleet.cattle.io'],
  resources: ['clusterregistrations'],
  verbs: ['create'],
};
const heartbeat: PolicyRule = {
  apiGroups: ['fleet.cattle.io'],
  resources: ['clusters/status'],
  verbs: ['patch'],
  resourceNames: ['a'],
};
const answer: PolicyRule = { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['c-0', 'c-1'] };

/** Two policies refuse, and the API server tells of one of them. */
const either = (...policies: string[]): RegExp => new RegExp(policies.join('|'));

const write = async (object: KubeObject, dryRun: boolean): Promise<KubeObject> =>
  await it.hub.apply(resourceTypeOf(object), object, { fieldManager: 'hub', dryRun });

async function clusterWith(notes: Record<string, string>, status: ClusterStatus) {
  const key = { namespace: workspace, name: 'made' };
  const made = { apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'Cluster', metadata: { ...key, annotations: notes } };
  await it.admin.create(Clusters, made);
  await it.admin.patch(Clusters, key, { status }, { type: 'merge', subresource: 'status' });
  return key;
}

describe('given what a registration needs, when the hub writes it, then it is accepted', () => {
  test.each<[string, KubeObject]>([
    ['a cluster namespace', namespaceOf(own, managed)],
    ['its label again', namespaceOf(own, { ...managed, more: 'x' })],
    ['an account in it', account(own)],
    ['an account in a workspace', account(workspace, 'token')],
    ['the agent role in it', bind(own, 'ClusterRole', 'fleet-bundle-deployment', sa(own))],
    ['the renewal role in it', bind(own, 'ClusterRole', 'muster-credential-renewal', sa(own))],
    ['its own role in it', bind(own, 'ClusterRole', 'muster-hub-namespace', sa(system, 'muster-hub'))],
    ['the reporting role in its workspace', bind(workspace, 'ClusterRole', 'muster-cluster-status', sa(own))],
    ['Contents for the agent', bind(undefined, 'ClusterRole', 'fleet-content', sa(own))],
    ['a Role to ask', role(workspace, createRequests)],
    ['a Role to report', role(workspace, heartbeat)],
    ['a Role to read answers', role(registration, answer)],
    ['a binding in the workspace', bind(workspace, 'Role', 'test', sa(workspace, 'token'))],
    ['a binding for the agent there', bind('fleet-local', 'Role', 'test', sa(own))],
    ['a binding in the registration namespace', bind(registration, 'Role', 'test', sa(workspace, 'token'))],
  ])('%s', async (_, object) => {
    expect((await write(object, false)).metadata.uid).toBeTruthy();
  });

  test('and it may issue the tokens of both accounts', async () => {
    const request = { expirationSeconds: 3600 };
    expect((await it.hub.createToken({ namespace: own, name: 'agent' }, request)).token).toBeTruthy();
    expect((await it.hub.createToken({ namespace: workspace, name: 'token' }, request)).token).toBeTruthy();
  });

  test('and it may take back what it made', async () => {
    await it.hub.delete(RoleBindings, { namespace: own, name: 'test-fleet-bundle-deployment' });
    await it.hub.delete(ServiceAccounts, { namespace: own, name: 'agent' });
    await it.hub.delete(resourceTypeOf({ kind: 'Namespace' }), { name: own });
    const waiting = { conditions: [{ type: 'Registered', status: 'False' }] };
    for (const status of [{}, waiting]) {
      await it.hub.delete(Clusters, await clusterWith({ [annotations.requestedBy]: 'request-a' }, status));
    }
  });
});

describe('given anything else, when the hub writes it, then a policy refuses', () => {
  const { hubRoles, hubBindings, hubScope, hubNamespaces } = policyNames;
  const second = 'cluster-fleet-default-b-0123456789ab';
  beforeAll(async () => {
    await write(namespaceOf(second, managed), false);
  });

  test.each<[string, string | RegExp, KubeObject]>([
    ['a namespace with a free name', hubNamespaces, namespaceOf('team-b', managed)],
    ['a cluster namespace without its label', hubNamespaces, namespaceOf('cluster-c')],
    ['the label of its own on kube-system', hubNamespaces, namespaceOf('kube-system', managed)],
    [
      'the label of its own on a foreign cluster-… namespace',
      hubNamespaces,
      namespaceOf('cluster-autoscaler', managed),
    ],
    ['the label of workspaces', hubNamespaces, namespaceOf(second, { ...managed, [workspaceLabel]: 'true' })],
    ['an account in kube-system', hubScope, account('kube-system')],
    ['an account in its system namespace', hubScope, account(system)],
    ['an account in a foreign cluster-… namespace', hubScope, account('cluster-autoscaler')],
    ['a Role that reads all Secrets', hubRoles, role(workspace, { ...answer, resourceNames: [] })],
    ['a Role that reads Secrets of a workspace', hubRoles, role(workspace, answer)],
    ['a Role that reads other Secrets', hubRoles, role(registration, { ...answer, resourceNames: ['c-0', 'x'] })],
    ['a Role that reports on any Cluster', hubRoles, role(workspace, { ...heartbeat, resourceNames: [] })],
    ['a Role with a second rule', hubRoles, role(workspace, createRequests, heartbeat)],
    ['a Role without rules', hubRoles, role(workspace)],
    ['a Role with another verb', hubRoles, role(workspace, { ...createRequests, verbs: ['create', 'list'] })],
    ['a Role with a wildcard', hubRoles, role(workspace, { apiGroups: ['*'], resources: ['*'], verbs: ['*'] })],
    [
      'its own right to read, in kube-system',
      hubScope,
      bind('kube-system', 'ClusterRole', 'muster-hub-source', sa(system, 'muster-hub')),
    ],
    [
      'its own role outside of workspaces',
      either(hubScope, hubBindings),
      bind('kube-system', 'ClusterRole', 'muster-hub-namespace', sa(system, 'muster-hub')),
    ],
    ['its own role for another account', hubBindings, bind(second, 'ClusterRole', 'muster-hub-namespace', sa(second))],
    [
      'the agent role in a workspace',
      hubBindings,
      bind(workspace, 'ClusterRole', 'fleet-bundle-deployment', sa(second)),
    ],
    [
      'the agent role for an account elsewhere',
      hubBindings,
      bind(second, 'ClusterRole', 'fleet-bundle-deployment', sa(workspace)),
    ],
    [
      'the reporting role for a token',
      hubBindings,
      bind(workspace, 'ClusterRole', 'muster-cluster-status', sa(workspace)),
    ],
    [
      'the reporting role cluster-wide',
      hubBindings,
      bind(undefined, 'ClusterRole', 'muster-cluster-status', sa(second)),
    ],
    [
      'a user',
      hubBindings,
      bind(second, 'ClusterRole', 'fleet-bundle-deployment', { kind: 'User', name: 'eve', apiGroup: rbac }),
    ],
    [
      'Contents for an account elsewhere',
      hubBindings,
      bind(undefined, 'ClusterRole', 'fleet-content', sa('kube-system')),
    ],
    [
      'its own role cluster-wide',
      hubBindings,
      bind(undefined, 'ClusterRole', 'muster-hub-namespace', sa(system, 'muster-hub')),
    ],
    ['a Role of a workspace for kube-system', hubBindings, bind(workspace, 'Role', 'test', sa('kube-system'))],
    ['a Role of a workspace for the hub', hubBindings, bind(workspace, 'Role', 'test', sa(system, 'muster-hub'))],
  ])('%s', async (_, policy, object) => {
    await expect(write(object, true)).rejects.toThrow(policy);
  });

  test('a token of an account of another namespace', async () => {
    const request = { expirationSeconds: 3600 };
    await expect(it.hub.createToken({ namespace: 'kube-system', name: 'default' }, request)).rejects.toThrow(hubScope);
    await expect(it.hub.createToken({ namespace: system, name: 'muster-hub' }, request)).rejects.toThrow(hubScope);
  });

  test('the end of a namespace or account that is not its own', async () => {
    const namespaces = resourceTypeOf({ kind: 'Namespace' });
    await expect(it.hub.delete(namespaces, { name: workspace })).rejects.toThrow(hubNamespaces);
    const other = { namespace: 'kube-system', name: 'default' };
    await expect(it.hub.delete(ServiceAccounts, other)).rejects.toThrow(hubScope);
  });

  const registered = { conditions: [{ type: 'Registered', status: 'True' }] };
  const reported = { agent: { lastSeen: '2026-01-01T00:00:00Z' } };
  test.each<[string, Record<string, string>, ClusterStatus]>([
    ['declared by a user', {}, {}],
    ['made for a request and registered', { [annotations.requestedBy]: 'request-a' }, registered],
    ['made for a request and used by an agent', { [annotations.requestedBy]: 'request-a' }, reported],
  ])('the end of a Cluster %s', async (_name, notes, status) => {
    const cluster = await clusterWith(notes, status);
    await expect(it.hub.delete(Clusters, cluster)).rejects.toThrow(policyNames.hubDeletions);
    await it.admin.delete(Clusters, cluster);
  });

  test('a binding to cluster-admin, which RBAC refuses', async () => {
    await expect(write(bind(second, 'ClusterRole', 'cluster-admin', sa(second)), true)).rejects.toThrow('forbidden');
  });
});

test('given an administrator, when he opens a namespace by its label, then the hub may open it to itself', async () => {
  const team: KubeObject = namespaceOf('team-a');
  await it.admin.apply(resourceTypeOf(team), team, { fieldManager: 'test' });
  const binding = bind('team-a', 'ClusterRole', 'muster-hub-namespace', sa(system, 'muster-hub'));
  await expect(write(binding, true)).rejects.toThrow(either(policyNames.hubScope, policyNames.hubBindings));
  const open = namespaceOf('team-a', { [workspaceLabel]: 'true' });
  await it.admin.apply(resourceTypeOf(open), open, { fieldManager: 'test' });
  await expect
    .poll(() =>
      write(binding, false).then(
        ({ kind }) => kind,
        () => 'denied',
      ),
    )
    .toBe('RoleBinding');
  await expect.poll(() => review('list', '/secrets', 'team-a')).toBe(true);
});
