/** Credentials: what ends them, what brings rights back, and which tokens are issued at all. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ClusterRegistration } from '../../../api/fleet/kinds.ts';
import {
  BundleDeployments,
  ClusterRegistrations,
  ClusterRegistrationTokens,
  Clusters,
} from '../../../api/fleet/kinds.ts';
import { contentBindingName, registrationSecretName } from '../../../api/fleet/names.ts';
import { Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings, Roles } from '../../../api/kubernetes/rbac.ts';
import type { ObjectKey, ResourceType } from '../../../api/resource.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { poll } from '../../../test/harness/index.ts';
import {
  ask,
  answerTo,
  asToken,
  cluster,
  clusterThat,
  condition,
  createToken,
  workspace,
} from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { registrationNamespace, startRunningHub } from '../../../test/support/running-hub.ts';
import { isForbidden, isUnauthorized } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';

let hub: RunningHub;
let holder: KubeClient;

beforeAll(async () => {
  hub = await startRunningHub('tokens');
  await createToken(hub, 'tok');
  holder = await asToken(hub, 'tok');
});
afterAll(() => hub?.close());
afterEach(() => hub.configure({}));

const gone = (type: ResourceType, key: ObjectKey, what: string) =>
  poll(async () => ((await hub.admin.find(type, key)) === undefined ? true : undefined), { what, limitMs: 15_000 });
const back = (type: ResourceType, key: ObjectKey, uid: string | undefined) =>
  poll(
    async () => {
      const found = await hub.admin.find(type, key);
      return found !== undefined && found.metadata.uid !== uid ? found : undefined;
    },
    { what: `${type.kind} ${key.name} again` },
  );

async function register(client: KubeClient, clientID: string, token: string, rotating = false) {
  const request = await ask(client, { clientID, token, rotating });
  const answer = await answerTo(client, request);
  await requestThat(request, ({ status }) => status?.granted === true);
  const [name, namespace] = [answer['clusterName'] ?? '', answer['deploymentNamespace'] ?? ''];
  const agent = hub.asBearer(answer['token'] ?? '');
  const beat = () => {
    const value = { lastSeen: new Date().toISOString(), namespace: 'cattle-fleet-system' };
    const patch = [{ op: 'add', path: '/status/agent', value }];
    return agent.patch(Clusters, { namespace: workspace, name }, patch, { type: 'json', subresource: 'status' });
  };
  return { request, name, namespace, agent, beat };
}

async function requestThat(request: ClusterRegistration, look: (now: ClusterRegistration) => boolean) {
  const find = async () => {
    const found = await hub.admin.find(ClusterRegistrations, parseKey(keyOf(request)));
    return found !== undefined && look(found) ? found : undefined;
  };
  return await poll(find, { what: `ClusterRegistration ${keyOf(request)}` });
}

/** Resolves when nothing is allowed any more; by the rights, as API servers remember a bearer for some seconds. */
const unknownTo = (call: () => Promise<unknown>, limitMs = 8_000) =>
  poll(
    () =>
      call().then(
        () => undefined,
        (error: unknown) => isUnauthorized(error) || isForbidden(error) || undefined,
      ),
    { what: 'the end of a credential', limitMs },
  );

describe('rights of a granted request', () => {
  it('given that somebody deletes each of its bindings, when the hub sees it, then they are back and the agent works', async () => {
    const { request, namespace, agent } = await register(holder, 'repaired', 'tok');
    const name = request.metadata.name ?? '';
    const places: [ResourceType, ObjectKey][] = [
      [RoleBindings, { namespace: workspace, name }],
      [RoleBindings, { namespace, name }],
      [ClusterRoleBindings, { name: contentBindingName(name) }],
    ];
    for (const [type, key] of places) {
      const before = await hub.admin.get(type, key);
      await hub.admin.delete(type, key);
      await back(type, key, before.metadata.uid);
    }
    const list = () =>
      agent
        .list(BundleDeployments, { namespace })
        .catch((e: unknown) => (isForbidden(e) ? undefined : Promise.reject(e as Error)));
    expect((await poll(list, { what: 'rights' })).items).toEqual([]);
  });

  it('given that one was deleted while no hub was there, when the hub starts, then it is back', async () => {
    const { request } = await register(holder, 'repaired-late', 'tok');
    const key = { namespace: workspace, name: request.metadata.name ?? '' };
    await hub.stop();
    await hub.admin.delete(RoleBindings, key);
    await hub.start();
    await back(RoleBindings, key, undefined);
  });

  it('given that its request is deleted, when revoked, then no right comes back', async () => {
    const { request, namespace, agent } = await register(holder, 'revoked', 'tok');
    const name = request.metadata.name ?? '';
    await hub.admin.delete(ClusterRegistrations, parseKey(keyOf(request)));
    await unknownTo(() => agent.list(BundleDeployments, { namespace }));
    await hub.quiet();
    expect(await hub.admin.find(RoleBindings, { namespace: workspace, name })).toBeUndefined();
    expect(await hub.admin.find(RoleBindings, { namespace, name })).toBeUndefined();
    expect(await hub.admin.find(ClusterRoleBindings, { name: contentBindingName(name) })).toBeUndefined();
  });

  it('given that its account is deleted, when the hub sees it, then the Cluster says so and the account stays gone', async () => {
    const { request, name, namespace, agent, beat } = await register(holder, 'lost-account', 'tok');
    await beat();
    await clusterThat(hub, name, (c) => condition(c, 'Ready')?.status === 'True', 'Ready');
    // nothing else may make the hub look
    await hub.quiet();
    const { items } = await hub.admin.list(ServiceAccounts, { namespace });
    const account = items.find(({ metadata }) => metadata.name?.startsWith(request.metadata.name ?? ''));
    const key = { namespace, name: account?.metadata.name ?? 'none' };
    await hub.admin.delete(ServiceAccounts, key, { ignoreNotFound: false });
    // nothing but the account is gone, which API servers remember for ten seconds
    await unknownTo(() => agent.list(BundleDeployments, { namespace }), 20_000);
    await clusterThat(hub, name, (c) => condition(c, 'Registered')?.reason === 'CredentialRevoked', 'told');
    await hub.quiet();
    expect(await hub.admin.find(ServiceAccounts, key)).toBeUndefined();
  });
});

describe('the right to get Contents, of an agent of ours', () => {
  const bundle = (namespace: string) => ({
    ...{ apiVersion: 'fleet.cattle.io/v1alpha1', kind: 'BundleDeployment' },
    ...{ metadata: { name: 'first', namespace }, spec: { deploymentID: 's-x:y', options: {} } },
  });
  const keyOfRight = ({ metadata }: ClusterRegistration) => ({ name: contentBindingName(metadata.name ?? '') });
  const given = (request: ClusterRegistration) =>
    poll(() => hub.admin.find(ClusterRoleBindings, keyOfRight(request)), { what: 'the right to get Contents' });

  it('given a first bundle, then it has it; deleted, it is back; revoked, it stays gone', async () => {
    const { request, namespace } = await register(holder, 'delivered', 'tok', true);
    const key = keyOfRight(request);
    await hub.quiet();
    expect(await hub.admin.find(ClusterRoleBindings, key)).toBeUndefined();
    await hub.admin.create(BundleDeployments, bundle(namespace));
    const { metadata } = await given(request);
    await hub.admin.delete(ClusterRoleBindings, key);
    await back(ClusterRoleBindings, key, metadata.uid);
    await hub.admin.delete(ClusterRegistrations, parseKey(keyOf(request)));
    await gone(ClusterRoleBindings, key, 'the right to go');
    await hub.quiet();
    expect(await hub.admin.find(ClusterRoleBindings, key)).toBeUndefined();
  });

  it('given bundles that came while no hub was there, when it starts, then it is given', async () => {
    const { request, namespace } = await register(holder, 'delivered-late', 'tok', true);
    await hub.stop();
    await hub.admin.create(BundleDeployments, bundle(namespace));
    await hub.start();
    await given(request);
  });

  it('given bundles before the agent, when it registers, then the right comes with the credential', async () => {
    const made = await hub.admin.create(Clusters, cluster('early', { clientID: 'delivered-early' }));
    const { status } = await clusterThat(
      hub,
      made.metadata.name ?? '',
      (c) => Boolean(c.status?.namespace),
      'its namespace',
    );
    await hub.admin.create(BundleDeployments, bundle(status?.namespace ?? ''));
    await hub.quiet();
    const request = await ask(holder, { clientID: 'delivered-early', token: 'tok', rotating: true });
    await answerTo(holder, request);
    expect(await hub.admin.find(ClusterRoleBindings, keyOfRight(request))).toBeDefined();
  });
});

describe('the answer to a request', () => {
  it('given a heartbeat, when a minute has passed, then the answer and the right to read it are gone', async () => {
    const { request, beat } = await register(holder, 'answered', 'tok');
    await beat();
    const name = registrationSecretName('answered', request.spec?.clientRandom ?? '');
    const gone = async () => (await hub.admin.find(Secrets, { namespace: registrationNamespace, name })) === undefined;
    await poll(async () => ((await gone()) ? true : undefined), { what: 'no answer', limitMs: 80_000 });
    const roles = await hub.admin.list(Roles, { namespace: registrationNamespace });
    const names = roles.items.flatMap(({ rules }) => rules?.flatMap(({ resourceNames }) => resourceNames ?? []) ?? []);
    expect(names).not.toContain(name);
  }, 100_000);
});

describe('tokens', () => {
  it('given one that is deleted, when the hub sees it, then its bearer is rejected at once', async () => {
    await createToken(hub, 'dropped');
    const client = await asToken(hub, 'dropped');
    await register(client, 'by-dropped', 'dropped');
    await hub.admin.delete(ClusterRegistrationTokens, { namespace: workspace, name: 'dropped' });
    await unknownTo(() => ask(client, { clientID: 'too-late', token: 'dropped' }));
    await gone(Secrets, { namespace: workspace, name: 'dropped' }, 'no values');
  });

  it('given one for one use, when a cluster has reported, then it is gone, and before that nobody else gets in', async () => {
    await hub.admin.create(ClusterRegistrationTokens, {
      apiVersion: 'fleet.cattle.io/v1alpha1',
      kind: 'ClusterRegistrationToken',
      metadata: { name: 'once', namespace: workspace, annotations: { 'muster.dev/one-use': 'true' } },
      spec: { ttl: '1h' },
    });
    const client = await asToken(hub, 'once');
    const first = await register(client, 'once-first', 'once');
    const second = await ask(client, { clientID: 'once-second', token: 'once' });
    const refused = await requestThat(second, (now) => condition(now, 'Accepted')?.status === 'False');
    expect(condition(refused, 'Accepted')).toMatchObject({ reason: 'TokenUsed' });
    await first.beat();
    await gone(ClusterRegistrationTokens, { namespace: workspace, name: 'once' }, 'the end of the token');
    await unknownTo(() => ask(client, { clientID: 'once-third', token: 'once' }));
    expect((await first.agent.list(BundleDeployments, { namespace: first.namespace })).items).toEqual([]);
  });

  it('given that the hub requires a ttl, when a token has none, then it is refused, and one issued before is deleted', async () => {
    await createToken(hub, 'endless');
    await asToken(hub, 'endless');
    await hub.configure({ registrationTokenTTLRequired: true });
    await gone(ClusterRegistrationTokens, { namespace: workspace, name: 'endless' }, 'the end of the old token');
    await createToken(hub, 'new-endless');
    const told = await poll(
      async () => {
        const found = await hub.admin.find(ClusterRegistrationTokens, { namespace: workspace, name: 'new-endless' });
        return condition(found, 'Issued')?.status === 'False' ? found : undefined;
      },
      { what: 'a refusal' },
    );
    expect(condition(told, 'Issued')).toMatchObject({ reason: 'TTLRequired' });
    expect(await hub.admin.find(Secrets, { namespace: workspace, name: 'new-endless' })).toBeUndefined();
    await createToken(hub, 'with-ttl', '1h');
    await asToken(hub, 'with-ttl');
  });
});
