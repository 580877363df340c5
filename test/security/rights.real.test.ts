/**
 * Who may do what on a hub, whole: for each identity the API server is asked about every verb on every resource in every
 * kind of namespace, and all that it allows has to be written here. What RBAC allows and an admission policy narrows
 * (it cannot tell namespaces by pattern, nor fields) is then tried with real calls, as SubjectAccessReviews do not know
 * policies; docs/decisions/0005 tells why.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BundleDeployments, ClusterRegistrations, Clusters, Contents } from '../../api/fleet/kinds.ts';
import { registrationSecretName } from '../../api/fleet/names.ts';
import { ConfigMaps, Namespaces, Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import type { ClusterProfile } from '../../api/multicluster/kinds.ts';
import { ClusterProfiles } from '../../api/multicluster/kinds.ts';
import type { KubeObject } from '../../api/resource.ts';
import { resourceTypeOf, synthCrds, synthHub } from '../../components/fleet/index.ts';
import { grantRoles, hubNames, policyNames } from '../../components/fleet/names.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { account, bind, namespaceOf, role, sa } from '../support/rbac-objects.ts';
import { ask, answerTo, asToken, createToken, workspace } from '../support/registering.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { poll } from '../harness/index.ts';
import { registrationNamespace, startRunningHub, systemNamespace } from '../support/running-hub.ts';

const fleet = 'fleet.cattle.io';
const rbac = 'rbac.authorization.k8s.io';
const multicluster = 'multicluster.x-k8s.io';
const namespacedResources: [group: string, resource: string][] = [
  ...['secrets', 'configmaps', 'serviceaccounts', 'serviceaccounts/token', 'pods', 'pods/exec', 'events'].map(
    (resource): [string, string] => ['', resource],
  ),
  ...['roles', 'rolebindings'].map((resource): [string, string] => [rbac, resource]),
  ['apps', 'deployments'],
  ['coordination.k8s.io', 'leases'],
  ...['clusters', 'clusters/status', 'clusterregistrations', 'clusterregistrations/status'].map(
    (resource): [string, string] => [fleet, resource],
  ),
  ...['clusterregistrationtokens', 'clustergroups', 'bundles', 'bundledeployments', 'bundledeployments/status'].map(
    (resource): [string, string] => [fleet, resource],
  ),
  [fleet, 'gitrepos'],
  ...['clusterprofiles', 'clusterprofiles/status'].map((resource): [string, string] => [multicluster, resource]),
];
const clusterResources: [group: string, resource: string][] = [
  ['', 'namespaces'],
  ['', 'nodes'],
  [rbac, 'clusterroles'],
  [rbac, 'clusterrolebindings'],
  [fleet, 'contents'],
  ['admissionregistration.k8s.io', 'validatingadmissionpolicies'],
  ['apiextensions.k8s.io', 'customresourcedefinitions'],
  ['', 'users'],
];
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'escalate', 'bind', 'impersonate'];

interface Identity {
  readonly client: KubeClient;
  readonly user: string;
  /** Its cluster namespace on the hub, if it is an agent. */
  readonly namespace: string;
  /** Its Cluster. */
  readonly cluster: string;
}

let hub: RunningHub;
let holder: Identity;
let [a, b, lasting]: Identity[] = [];
let hubItself: KubeClient;
const hubUser = `system:serviceaccount:${systemNamespace}:${hubNames.serviceAccount}`;
let answers: { own: string; other: string };

beforeAll(async () => {
  hub = await startRunningHub('rights');
  await createToken(hub, 'tok');
  await createToken(hub, 'other');
  const client = await asToken(hub, 'tok');
  const accounts = await hub.admin.list(ServiceAccounts, { namespace: workspace });
  const name = accounts.items.find(({ metadata }) => metadata.name?.startsWith('tok-'))?.metadata.name ?? '';
  holder = { client, user: `system:serviceaccount:${workspace}:${name}`, namespace: '', cluster: '' };
  const own = await ask(client, { clientID: 'a', token: 'tok', rotating: true });
  const otherHolder = await asToken(hub, 'other');
  const other = await ask(otherHolder, { clientID: 'b', token: 'other', rotating: true });
  answers = {
    own: registrationSecretName('a', own.spec?.clientRandom ?? ''),
    other: registrationSecretName('b', other.spec?.clientRandom ?? ''),
  };
  a = await agentOf(await answerTo(client, own));
  b = await agentOf(await answerTo(otherHolder, other));
  lasting = await agentOf(await answerTo(client, await ask(client, { clientID: 'lasting', token: 'tok' })));
  hubItself = await hub.newHubClient();
  await hub.quiet();
});
afterAll(async () => {
  await hubItself?.close();
  await hub?.close();
});

async function agentOf(answer: Record<string, string>): Promise<Identity> {
  const token = answer['token'] ?? '';
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string };
  return {
    client: hub.asBearer(token),
    user: claims.sub,
    namespace: answer['deploymentNamespace'] ?? '',
    cluster: answer['clusterName'] ?? '',
  };
}

async function allowed(user: string, attributes: Record<string, string>): Promise<boolean> {
  const namespace = user.split(':')[2] ?? '';
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const answer = await hub.admin.raw('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    method: 'POST',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes: attributes },
    },
  });
  return (answer as { status: { allowed: boolean } }).status.allowed;
}

/** Everything that is allowed, as `resource: verbs`. `namespace` empty: resources of the whole cluster. */
async function rightsOf(user: string, namespace: string): Promise<Record<string, string>> {
  const resources = namespace === '' ? clusterResources : namespacedResources;
  const lines = await Promise.all(
    resources.map(async ([group, whole]) => {
      const [resource = '', subresource = ''] = whole.split('/');
      const has = await Promise.all(
        verbs.map((verb) => allowed(user, { group, resource, subresource, verb, namespace })),
      );
      return [whole, verbs.filter((_, index) => has[index]).join(' ')] as const;
    }),
  );
  return Object.fromEntries(lines.filter(([, held]) => held !== ''));
}

const elsewhere = (): string[] => ['kube-system', 'default', 'fleet-local', systemNamespace];

describe('who holds a token', () => {
  it('may make ClusterRegistrations in its workspace, and nothing else anywhere', async () => {
    expect(await rightsOf(holder.user, workspace)).toEqual({ clusterregistrations: 'create' });
    for (const namespace of [...elsewhere(), registrationNamespace, a?.namespace ?? '', '']) {
      expect({ namespace, ...(await rightsOf(holder.user, namespace)) }).toEqual({ namespace });
    }
  });

  it('may get the answers to requests of this token by name, and no other', async () => {
    const secret = { group: '', resource: 'secrets', namespace: registrationNamespace };
    expect(await allowed(holder.user, { ...secret, verb: 'get', name: answers.own })).toBe(true);
    expect(await allowed(holder.user, { ...secret, verb: 'get', name: answers.other })).toBe(false);
    expect(await allowed(holder.user, { ...secret, verb: 'list', name: answers.own })).toBe(false);
    expect(await allowed(holder.user, { ...secret, verb: 'delete', name: answers.own })).toBe(false);
  });

  const denied: [string, () => Promise<unknown>][] = [
    [
      'get the answer of another token',
      () => holder.client.get(Secrets, { namespace: registrationNamespace, name: answers.other }),
    ],
    ['list answers', () => holder.client.list(Secrets, { namespace: registrationNamespace })],
    ['get its own values', () => holder.client.get(Secrets, { namespace: workspace, name: 'tok' })],
    ['list requests', () => holder.client.list(ClusterRegistrations, { namespace: workspace })],
    ['list Clusters', () => holder.client.list(Clusters, { namespace: workspace })],
    ['report for a Cluster', () => report(holder.client, a?.cluster ?? '', { agent: seen })],
    ['list bundles of a cluster', () => holder.client.list(BundleDeployments, { namespace: a?.namespace ?? '' })],
    ['ask in another workspace', () => holder.client.create(ClusterRegistrations, { ...requestIn('fleet-local') })],
    [
      'issue itself a token',
      () =>
        holder.client.createToken(
          { namespace: workspace, name: holder.user.split(':')[3] ?? '' },
          { expirationSeconds: 3600 },
        ),
    ],
  ];
  it.each(denied)('is forbidden to %s', async (_what, call) => {
    await expect(call()).rejects.toThrow('forbidden');
  });
});

const requestIn = (namespace: string) => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'ClusterRegistration',
  metadata: { generateName: 'request-', namespace },
  spec: { clientID: 'x', clientRandom: 'y' },
});
const seen = { lastSeen: '2026-11-29T00:00:00Z', namespace: 'cattle-fleet-system' };
const report = (client: KubeClient, name: string, status: object): Promise<unknown> =>
  client.patch(Clusters, { namespace: workspace, name }, { status }, { type: 'merge', subresource: 'status' });

const inOwnNamespace = {
  secrets: 'get',
  configmaps: 'get',
  bundledeployments: 'get list watch',
  'bundledeployments/status': 'patch',
};

describe('a registered agent', () => {
  it('reads bundles, reports on them and issues its next token in its own cluster namespace', async () => {
    expect(await rightsOf(a?.user ?? '', a?.namespace ?? '')).toEqual({
      ...inOwnNamespace,
      serviceaccounts: 'watch',
      'serviceaccounts/token': 'create',
    });
  });

  it('gets Contents by name from the start when it is one that keeps its token for ever', async () => {
    expect(await rightsOf(lasting?.user ?? '', '')).toEqual({ contents: 'get' });
  });

  it('issues no tokens when it is one that keeps its own for ever', async () => {
    expect(await rightsOf(lasting?.user ?? '', lasting?.namespace ?? '')).toEqual(inOwnNamespace);
  });

  it('reports in its workspace, and has no right anywhere else before there is something to deploy', async () => {
    expect(await rightsOf(a?.user ?? '', workspace)).toEqual({ 'clusters/status': 'patch' });
    expect(await rightsOf(a?.user ?? '', '')).toEqual({});
    for (const namespace of [...elsewhere(), registrationNamespace, b?.namespace ?? '']) {
      expect({ namespace, ...(await rightsOf(a?.user ?? '', namespace)) }).toEqual({ namespace });
    }
  });

  it('given RBAC that allows reports in the whole workspace, when it reports for another, then a policy denies', async () => {
    const review = { group: fleet, resource: 'clusters', subresource: 'status', verb: 'patch', namespace: workspace };
    expect(await allowed(a?.user ?? '', { ...review, name: b?.cluster ?? '' })).toBe(true);
    await expect(report(a?.client as KubeClient, b?.cluster ?? '', { agent: seen })).rejects.toThrow(
      policyNames.agentStatus,
    );
    await report(a?.client as KubeClient, a?.cluster ?? '', { agent: seen });
  });

  it.each<[string, object]>([
    ['its cluster namespace', { namespace: 'kube-system' }],
    ['the address of the hub', { apiServerURL: 'https://evil' }],
    ['a condition', { conditions: [{ type: 'Ready', status: 'True' }] }],
  ])('given its own Cluster, when it changes %s, then a policy denies', async (_what, status) => {
    await expect(report(a?.client as KubeClient, a?.cluster ?? '', status)).rejects.toThrow(policyNames.agentStatus);
  });

  it('given the right to issue tokens in its namespace, when they are of another account or too long, then a policy denies', async () => {
    const [namespace, name] = [a?.namespace ?? '', a?.user.split(':')[3] ?? ''];
    const issue = (account: string, expirationSeconds: number) =>
      a?.client.createToken({ namespace, name: account }, { expirationSeconds });
    await expect(issue('default', 3600)).rejects.toThrow(policyNames.agentTokens);
    await expect(issue(name, 10 * 365 * 86_400)).rejects.toThrow(policyNames.agentTokens);
    expect((await issue(name, 3600))?.token).toBeTruthy();
  });

  const mine = (): KubeClient => a?.client as KubeClient;
  const [ownNs, otherNs] = [() => a?.namespace ?? '', () => b?.namespace ?? ''];
  const denied: [string, () => Promise<unknown>][] = [
    ["list another's bundles", () => mine().list(BundleDeployments, { namespace: otherNs() })],
    ["get another's Secret", () => mine().get(Secrets, { namespace: otherNs(), name: 'any' })],
    ["get another's ConfigMap", () => mine().get(ConfigMaps, { namespace: otherNs(), name: 'any' })],
    [
      'issue a token of another agent',
      () =>
        mine().createToken({ namespace: otherNs(), name: b?.user.split(':')[3] ?? '' }, { expirationSeconds: 3600 }),
    ],
    ['list Secrets of its own namespace', () => mine().list(Secrets, { namespace: ownNs() })],
    [
      'write Secrets of its own namespace',
      () => mine().create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: ownNs() } }),
    ],
    ['get its own answer', () => mine().get(Secrets, { namespace: registrationNamespace, name: answers.own })],
    ['get the values of a token', () => mine().get(Secrets, { namespace: workspace, name: 'tok' })],
    ['get its Cluster', () => mine().get(Clusters, { namespace: workspace, name: a?.cluster ?? '' })],
    [
      'change its Cluster',
      () =>
        mine().patch(
          Clusters,
          { namespace: workspace, name: a?.cluster ?? '' },
          { metadata: { labels: { env: 'prod' } } },
          { type: 'merge' },
        ),
    ],
    ['ask for a registration', () => mine().create(ClusterRegistrations, requestIn(workspace))],
    ['list Contents', () => mine().list(Contents)],
    ['list namespaces', () => mine().list(Namespaces)],
  ];
  it.each(denied)('is forbidden to %s', async (_what, call) => {
    await expect(call()).rejects.toThrow('forbidden');
  });
});

const fleetRead = 'get list watch';
const everywhere = {
  serviceaccounts: 'get list watch create update patch delete',
  'serviceaccounts/token': 'create',
  rolebindings: 'get list watch create update patch delete',
  events: 'create patch',
  clusters: 'get list watch create update patch delete',
  'clusters/status': 'update patch',
  clusterregistrations: 'get list watch update patch delete',
  'clusterregistrations/status': 'update patch',
  clusterregistrationtokens: 'get list watch create update patch delete',
  clustergroups: 'get list watch create patch delete',
  bundles: 'get list watch create update patch delete',
  bundledeployments: 'get list watch create update patch delete',
  'bundledeployments/status': 'update patch',
  gitrepos: fleetRead,
  clusterprofiles: 'get list watch create patch delete',
  'clusterprofiles/status': 'patch',
};

describe('the hub itself', () => {
  it.each(['kube-system', 'default'])(
    'given %s, when asked, then no Secret, Role, pod or ConfigMap is in its reach',
    async (namespace) => {
      expect(await rightsOf(hubUser, namespace)).toEqual(everywhere);
    },
  );

  it('given its own places, when asked, then Secrets and Roles are added there, and no more', async () => {
    const opened = {
      ...everywhere,
      secrets: 'get list watch create update patch delete',
      roles: 'get list watch create update patch delete escalate bind',
    };
    expect(await rightsOf(hubUser, workspace)).toEqual(opened);
    expect(await rightsOf(hubUser, registrationNamespace)).toEqual(opened);
    expect(await rightsOf(hubUser, a?.namespace ?? '')).toEqual(everywhere);
    expect(await rightsOf(hubUser, systemNamespace)).toEqual({
      ...everywhere,
      secrets: fleetRead,
      deployments: 'get list',
      leases: 'get create update patch',
    });
  });

  it('given the whole cluster, when asked, then it may not change roles, policies or kinds, nor be someone else', async () => {
    expect(await rightsOf(hubUser, '')).toEqual({
      namespaces: 'get list watch create update patch delete',
      clusterrolebindings: 'get list watch create update patch delete',
      contents: 'get list watch create update patch delete',
    });
    for (const name of Object.values(grantRoles)) {
      expect(await allowed(hubUser, { group: rbac, resource: 'clusterroles', verb: 'bind', name })).toBe(true);
    }
    for (const name of ['cluster-admin', 'admin', 'edit', 'view']) {
      expect(await allowed(hubUser, { group: rbac, resource: 'clusterroles', verb: 'bind', name })).toBe(false);
    }
  });

  const { hubScope, hubNamespaces, hubBindings, hubRoles } = policyNames;
  const token = { expirationSeconds: 3600 };
  const write = (object: KubeObject) =>
    hubItself.apply(resourceTypeOf(object), object, { fieldManager: 'hub', dryRun: true });
  it.each<[string, string, () => Promise<unknown>]>([
    ['make an account in kube-system', hubScope, () => write(account('kube-system'))],
    [
      'issue a token of kube-system',
      hubScope,
      () => hubItself.createToken({ namespace: 'kube-system', name: 'default' }, token),
    ],
    [
      'issue a token of default',
      hubScope,
      () => hubItself.createToken({ namespace: 'default', name: 'default' }, token),
    ],
    [
      'issue itself a token',
      hubScope,
      () => hubItself.createToken({ namespace: systemNamespace, name: hubNames.serviceAccount }, token),
    ],
    [
      'bind in kube-system',
      hubScope,
      () =>
        write(bind('kube-system', 'ClusterRole', grantRoles.hubSource, sa(systemNamespace, hubNames.serviceAccount))),
    ],
    ['delete a namespace of others', hubNamespaces, () => hubItself.delete(Namespaces, { name: workspace })],
    ['make a workspace', hubNamespaces, () => write(namespaceOf('team-z', { 'muster.dev/workspace': 'true' }))],
    [
      'give Contents to an account of others',
      hubBindings,
      () => write(bind(undefined, 'ClusterRole', grantRoles.content, sa('kube-system'))),
    ],
    [
      'make a Role that reads Secrets',
      hubRoles,
      () => write(role(workspace, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] })),
    ],
  ])('given RBAC that allows it, when it wants to %s, then policy %s denies', async (_what, policy, call) => {
    await expect(call()).rejects.toThrow(policy);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['list Secrets of the cluster', () => hubItself.list(Secrets)],
    ['list Secrets of kube-system', () => hubItself.list(Secrets, { namespace: 'kube-system' })],
    [
      'get a Secret of a cluster namespace',
      () => hubItself.get(Secrets, { namespace: a?.namespace ?? '', name: 'any' }),
    ],
    [
      'write a ConfigMap of kube-system',
      () => hubItself.patch(ConfigMaps, { namespace: 'kube-system', name: 'x' }, {}, { type: 'merge' }),
    ],
    ['delete a Cluster', () => hubItself.delete(Clusters, { namespace: workspace, name: a?.cluster ?? '' })],
    ['bind cluster-admin', () => write(bind(undefined, 'ClusterRole', 'cluster-admin', sa(a?.namespace ?? '')))],
  ])('is forbidden to %s', async (_what, call) => {
    await expect(call()).rejects.toThrow('forbidden');
  });
});

describe('the hub in the namespace of Argo CD', () => {
  const argocd = 'argocd';
  const labels = { 'argocd.argoproj.io/secret-type': 'cluster', 'app.kubernetes.io/managed-by': 'muster' };
  const annotations = { 'muster.dev/cluster': 'fleet-default/east' };
  const secret = (name: string, metadata: object = { labels, annotations }, type = 'Opaque') => ({
    ...{ apiVersion: 'v1', kind: 'Secret', type },
    metadata: { name, namespace: argocd, ...metadata },
  });
  const write = (object: KubeObject) => hubItself.apply(Secrets, object, { fieldManager: 'hub', dryRun: true });

  it('given the option in its manifests, when asked, then it may write Secrets there, and read none', async () => {
    expect(await rightsOf(hubUser, argocd)).toEqual(everywhere);
    await hub.admin.create(Namespaces, namespaceOf(argocd));
    const config = { inventory: { argoCD: { namespace: argocd } } };
    const manifests = synthHub({ image: 'muster:test', config }).filter(({ kind }) => kind !== 'ConfigMap');
    for (const object of manifests) await hub.admin.apply(resourceTypeOf(object), object, { fieldManager: 'test' });
    await hub.admin.create(Secrets, secret('argocd-secret', {}));
    await hub.admin.create(
      Secrets,
      secret('cluster-theirs', { labels: { ...labels, 'app.kubernetes.io/managed-by': 'x' } }),
    );
    const isFenced = () =>
      write(secret('other')).then(
        () => undefined,
        (error: Error) => fenced(error),
      );
    const fenced = ({ message }: Error) => (message.includes(policyNames.hubArgoCD) ? true : undefined);
    await poll(isFenced, { what: 'the policy' });
    expect(await rightsOf(hubUser, argocd)).toEqual({ ...everywhere, secrets: 'create patch delete' });
    expect((await write(secret('cluster-own'))).metadata.name).toBe('cluster-own');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['make a Secret that is none of a cluster', () => write(secret('cluster-x', { annotations }))],
    ['make one that says it is not of muster', () => write(secret('cluster-x', { labels: {}, annotations }))],
    ['make one for no Cluster', () => write(secret('cluster-x', { labels }))],
    ['make one of a type that programs act on', () => write(secret('cluster-x', undefined, 'example.com/other'))],
    ['take over the Secret of Argo CD itself', () => write(secret('argocd-secret'))],
    ['take over the Secret of a cluster of others', () => write(secret('cluster-theirs'))],
    [
      'delete the Secret of Argo CD itself',
      () => hubItself.delete(Secrets, { namespace: argocd, name: 'argocd-secret' }),
    ],
    ['see one by a patch that changes nothing', () => touch('argocd-secret')],
    ['see one of a cluster of others that way', () => touch('cluster-theirs')],
  ])('given RBAC that allows it, when it wants to %s, then the policy denies', async (_what, call) => {
    await expect(call()).rejects.toThrow(policyNames.hubArgoCD);
  });
  const touch = (name: string) => hubItself.patch(Secrets, { namespace: argocd, name }, {}, { type: 'merge' });

  it.each<[string, () => Promise<unknown>]>([
    ['list Secrets', () => hubItself.list(Secrets, { namespace: argocd })],
    ['get its own', () => hubItself.get(Secrets, { namespace: argocd, name: 'cluster-own' })],
  ])('is forbidden to %s', async (_what, call) => {
    await expect(call()).rejects.toThrow('forbidden');
  });

  it('given a profile of another manager, when it wants to change or delete it, then a policy denies', async () => {
    const [definition] = synthCrds({ clusterProfiles: true }).filter(({ metadata }) =>
      metadata.name?.startsWith('clusterprofiles'),
    );
    await hub.admin.apply(resourceTypeOf(definition as KubeObject), definition as KubeObject, { fieldManager: 'test' });
    const profile = (name: string, manager: string, namespace = workspace): ClusterProfile => ({
      ...{ apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ClusterProfile' },
      metadata: { name, namespace },
      spec: { clusterManager: { name: manager } },
    });
    const served = () => hub.admin.create(ClusterProfiles, profile('theirs', 'other')).catch(() => undefined);
    await poll(served, { what: 'the kind' });
    const key = { namespace: workspace, name: 'theirs' };
    const { hubProfiles } = policyNames;
    const change = { metadata: { labels: { a: 'b' } } };
    await expect(hubItself.patch(ClusterProfiles, key, change, { type: 'merge' })).rejects.toThrow(hubProfiles);
    const status = { type: 'merge', subresource: 'status' } as const;
    const told = { status: { version: { kubernetes: 'v0' } } };
    await expect(hubItself.patch(ClusterProfiles, key, told, status)).rejects.toThrow(hubProfiles);
    await expect(hubItself.delete(ClusterProfiles, key)).rejects.toThrow(hubProfiles);
    await expect(hubItself.create(ClusterProfiles, profile('mine', 'other'))).rejects.toThrow(hubProfiles);
    await expect(hubItself.create(ClusterProfiles, profile('mine', 'muster', 'default'))).rejects.toThrow(hubProfiles);
    expect((await hubItself.create(ClusterProfiles, profile('mine', 'muster'))).metadata.uid).toBeTruthy();
  });
});
