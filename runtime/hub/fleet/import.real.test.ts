import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { rootCertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { durations } from '../../../api/durations.ts';
import { finalizers, secretNames } from '../../../api/fleet/constants.ts';
import { certificatesOf } from '../../../api/fleet/hub-address.ts';
import { BundleDeployments, Bundles, ClusterRegistrationTokens, Clusters } from '../../../api/fleet/kinds.ts';
import { agentBundleName, clusterNamespace } from '../../../api/fleet/names.ts';
import { Namespaces, Nodes, Pods, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { ClusterRoles } from '../../../api/kubernetes/rbac.ts';
import type { Deployment } from '../../../api/kubernetes/workloads.ts';
import { Deployments, StatefulSets } from '../../../api/kubernetes/workloads.ts';
import { ControlPlane, poll } from '../../../test/harness/index.ts';
import { ask, answerTo, cluster, clusterThat, condition, workspace } from '../../../test/support/registering.ts';
import type { RunningHub } from '../../../test/support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../../../test/support/running-hub.ts';
import type { KubeClient } from '../../kube/client.ts';

let hub: RunningHub;
let edge: ControlPlane;
let downstream: KubeClient;
const closers: (() => void)[] = [];
const merge = { type: 'merge' } as const;
const onStatus = { subresource: 'status' } as const;

beforeAll(async () => {
  [hub, edge] = await Promise.all([startRunningHub('import'), ControlPlane.start({ name: 'edge', scheduler: true })]);
  downstream = edge.client();
});
afterAll(async () => {
  await downstream?.close();
  await Promise.all([hub?.close(), edge?.close()]);
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function secret(name: string, value: string, more: Record<string, string> = {}): Promise<void> {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: workspace },
    stringData: { value, ...more },
  };
  await hub.admin.apply(Secrets, object, { fieldManager: 'test' });
}

async function importWith(name: string, kubeconfig: string): Promise<void> {
  await secret(`${name}-kubeconfig`, kubeconfig);
  await hub.admin.create(Clusters, cluster(name, { kubeConfigSecret: `${name}-kubeconfig` }));
}

const deployment = (): Promise<Deployment> =>
  poll(() => downstream.find(Deployments, { namespace: systemNamespace, name: 'fleet-agent' }), { what: 'the agent' });

const failsWith = async (name: string, reason: string) =>
  await clusterThat(hub, name, (c) => condition(c, 'Imported')?.reason === reason, `Imported is ${reason}`);

async function remove(name: string): Promise<void> {
  await hub.admin.delete(Clusters, { namespace: workspace, name });
  await poll(
    async () => ((await hub.admin.find(Clusters, { namespace: workspace, name })) === undefined ? true : undefined),
    { what: `the end of ${name}`, limitMs: 25_000 },
  );
}

/** A kubeconfig in short. */
function kubeconfig(server: string, ca: string, token = 'x'): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'a', user: { token } }],
  });
}

describe('a Cluster with a kubeconfig', () => {
  it('given a cluster that is reachable, when it is declared, then the agent is there, can register, and goes with it', async () => {
    await importWith('east', edge.kubeconfig);
    const agent = await deployment();
    expect(agent.spec.template.spec).toBeDefined();
    const imported = await clusterThat(hub, 'east', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    expect(imported.spec?.clientID).toMatch(/^[a-z0-9]{54}$/);
    expect(imported.status).toMatchObject({
      agentDeployedGeneration: 0,
      agentMigrated: true,
      apiServerURL: hub.plane.server,
      agentTLSMode: 'system-store',
    });
    const bootstrap = await downstream.get(Secrets, { namespace: systemNamespace, name: secretNames.bootstrap });
    const text = (key: string) => Buffer.from(bootstrap.data?.[key] ?? '', 'base64').toString();
    expect(text('apiServerURL')).toBe(hub.plane.server);
    expect(text('tokenName')).toBe('import-token-east');
    const token = await hub.admin.get(ClusterRegistrationTokens, { namespace: workspace, name: 'import-token-east' });
    expect(token.spec?.ttl).toBe('12h');

    const asker = hub.asBearer(text('token'));
    const answer = await answerTo(
      asker,
      await ask(asker, { clientID: imported.spec?.clientID ?? '', token: 'import-token-east' }),
    );
    expect(answer['clusterName']).toBe('east');
    await clusterThat(hub, 'east', (c) => condition(c, 'Registered')?.status === 'True', 'Registered');

    await remove('east');
    expect(await downstream.find(Deployments, { namespace: systemNamespace, name: 'fleet-agent' })).toBeUndefined();
    expect(await downstream.find(Namespaces, { name: systemNamespace })).toBeUndefined();
    const roles = await downstream.list(ClusterRoles, { labelSelector: 'app.kubernetes.io/managed-by=muster' });
    expect(roles.items).toEqual([]);
    expect(await hub.admin.find(Namespaces, { name: clusterNamespace(workspace, 'east') })).toBeUndefined();
    await poll(
      async () =>
        (await hub.admin.find(ClusterRegistrationTokens, { namespace: workspace, name: 'import-token-east' })) ===
        undefined
          ? true
          : undefined,
      { what: 'no token' },
    );
  });

  it('given an imported cluster, when its settings change, then only the Deployment rolls, once', async () => {
    await importWith('west', edge.kubeconfig);
    await clusterThat(hub, 'west', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    const before = await deployment();
    await hub.admin.patch(
      Clusters,
      { namespace: workspace, name: 'west' },
      { spec: { redeployAgentGeneration: 1 } },
      { type: 'merge' },
    );
    await clusterThat(hub, 'west', (c) => c.status?.agentDeployedGeneration === 1, 'redeployed');
    await hub.quiet();
    const after = await deployment();
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.generation).toBe((before.metadata.generation ?? 0) + 1);
  });

  it('given an agent that has not registered yet, when the CA of the hub changes, then its bootstrap Secret has the new one, with the same token', async () => {
    const bootstrap = async () => {
      const found = await downstream.get(Secrets, { namespace: systemNamespace, name: secretNames.bootstrap });
      const text = (key: string) => Buffer.from(found.data?.[key] ?? '', 'base64').toString();
      return { token: text('token'), cas: certificatesOf(text('apiServerCA')) };
    };
    const before = await bootstrap();
    const both = certificatesOf(hub.plane.ca, rootCertificates[0] ?? '');
    await hub.configure({ apiServerCA: Buffer.from(both.join('\n')).toString('base64') });
    await poll(async () => ((await bootstrap()).cas.length === 2 ? true : undefined), { what: 'the new CA' });
    expect(await bootstrap()).toEqual({ token: before.token, cas: both });
    await hub.configure({});
    await remove('west');
  });
});

describe('a cluster that a hub of Fleet has installed its agent in', () => {
  it('given its bundle and the StatefulSet of old versions, when the hub imports it, then both go and the agent is there', async () => {
    const name = 'taken';
    await hub.admin.create(Clusters, cluster(name, { kubeConfigSecret: `${name}-kubeconfig` }));
    const known = await clusterThat(hub, name, (c) => c.status?.namespace !== undefined, 'has a namespace');
    const status = { agentDeployedGeneration: 0, agent: { namespace: systemNamespace } };
    await hub.admin.patch(Clusters, { namespace: workspace, name }, { status }, { ...merge, ...onStatus });
    const bundle = { namespace: workspace, name: agentBundleName(name) };
    const delivered = { namespace: known.status?.namespace ?? '', name: bundle.name };
    const apiVersion = 'fleet.cattle.io/v1alpha1';
    await hub.admin.create(Bundles, {
      ...{ apiVersion, kind: 'Bundle', metadata: { ...bundle, finalizers: [finalizers.bundle] } },
      spec: { targets: [{ clusterName: name }] },
    });
    await hub.admin.create(BundleDeployments, {
      ...{ apiVersion, kind: 'BundleDeployment', spec: {} },
      metadata: { ...delivered, finalizers: [finalizers.bundleDeployment] },
    });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
    await downstream.apply(Namespaces, namespace, { fieldManager: 'test' });
    const labels = { app: 'fleet-agent' };
    await downstream.create(StatefulSets, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'fleet-agent', namespace: systemNamespace },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'x' }] } },
      },
    } as never);

    await secret(`${name}-kubeconfig`, edge.kubeconfig);

    await clusterThat(hub, name, (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    await deployment();
    expect(await hub.admin.find(Bundles, bundle)).toBeUndefined();
    expect(await hub.admin.find(BundleDeployments, delivered)).toBeUndefined();
    const old = await downstream.find(StatefulSets, { namespace: systemNamespace, name: 'fleet-agent' });
    expect(old === undefined || old.metadata.deletionTimestamp !== undefined).toBe(true);
    await remove(name);
  });
});

describe('an agent that cannot run downstream', () => {
  it('given a node whose ports are taken, when the agent wants the node’s network, then the Cluster says so (fleet#4432)', async () => {
    const metadata = { name: 'only', labels: { 'kubernetes.io/os': 'linux' } };
    await downstream.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata });
    const allocatable = { cpu: '4', memory: '8Gi', pods: '100' };
    const conditions = [{ type: 'Ready', status: 'True' }];
    await downstream.patch(Nodes, { name: 'only' }, { status: { allocatable, conditions } }, { ...merge, ...onStatus });
    await downstream.create(Pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'holder', namespace: 'default' },
      spec: {
        nodeName: 'only',
        hostNetwork: true,
        containers: [{ name: 'x', image: 'x', ports: [{ containerPort: 8081, hostPort: 8081 }] }],
      },
    } as never);
    await secret('busy-kubeconfig', edge.kubeconfig);
    const spec = { kubeConfigSecret: 'busy-kubeconfig', hostNetwork: true };
    await hub.admin.create(Clusters, cluster('busy', spec));
    const told = await clusterThat(
      hub,
      'busy',
      (c) => condition(c, 'Registered')?.reason === 'AgentNotRunning',
      'told',
    );
    expect(condition(told, 'Registered')?.message).toMatch(/free ports/);
    expect(condition(told, 'AgentReachable')).toMatchObject({ status: 'Unknown', reason: 'AgentNotRunning' });
    expect((await deployment()).spec).toMatchObject({ strategy: { type: 'Recreate' } });
    await downstream.delete(Nodes, { name: 'only' });
    await remove('busy');
  }, 60_000);
});

describe('an imported agent that lost its account', () => {
  it('given that the account is deleted on the hub, when noticed, then a new bootstrap Secret is there by itself', async () => {
    await importWith('lost', edge.kubeconfig);
    const bootstrapKey = { namespace: systemNamespace, name: secretNames.bootstrap };
    const imported = await clusterThat(hub, 'lost', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    const values = await downstream.get(Secrets, bootstrapKey);
    const asker = hub.asBearer(Buffer.from(values.data?.['token'] ?? '', 'base64').toString());
    const token = 'import-token-lost';
    const answer = await answerTo(asker, await ask(asker, { clientID: imported.spec?.clientID ?? '', token }));
    await clusterThat(hub, 'lost', (c) => condition(c, 'Registered')?.status === 'True', 'Registered');
    await downstream.delete(Secrets, bootstrapKey); // as the agent does
    await hub.admin.delete(ClusterRegistrationTokens, { namespace: workspace, name: token });

    const namespace = answer['deploymentNamespace'] ?? '';
    const accounts = await hub.admin.list(ServiceAccounts, {
      namespace,
      labelSelector: 'fleet.cattle.io/managed=true',
    });
    await Promise.all(
      accounts.items.map(({ metadata }) => hub.admin.delete(ServiceAccounts, { namespace, name: metadata.name ?? '' })),
    );
    await clusterThat(hub, 'lost', (c) => condition(c, 'Registered')?.status === 'False', 'told');
    // sooner than the hub looks after its agent in any case
    const limitMs = durations.agentLookFirst / 2;
    await poll(() => downstream.find(Secrets, bootstrapKey), { what: 'a new bootstrap Secret', limitMs });
    await remove('lost');
  }, 60_000);
});

describe('kubeconfigs that cannot be used', () => {
  const exec = kubeconfig('https://127.0.0.1:1', '').replace(
    '{"token":"x"}',
    '{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sh"}}',
  );

  it.each([
    ['empty', '', 'KubeconfigInvalid'],
    ['not YAML', '{[', 'KubeconfigInvalid'],
    ['without a current context', '{"apiVersion":"v1","kind":"Config"}', 'KubeconfigInvalid'],
    ['with a program to run', exec, 'KubeconfigRefused'],
  ])('given one that is %s, when imported, then the Cluster says so', async (what, text, reason) => {
    const name = `bad-${what.replaceAll(' ', '-').toLowerCase()}`;
    await importWith(name, text);
    await failsWith(name, reason);
    await remove(name);
  });

  it('given none, when one is put there, then the import goes on by itself', async () => {
    await hub.admin.create(Clusters, cluster('late', { kubeConfigSecret: 'late-kubeconfig' }));
    await failsWith('late', 'KubeconfigSecretMissing');
    await secret('late-kubeconfig', edge.kubeconfig);
    await clusterThat(hub, 'late', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    await remove('late');
  });

  it('given one in a namespace that is not allowed, when imported, then it is not read', async () => {
    await hub.admin.create(
      Clusters,
      cluster('elsewhere', { kubeConfigSecret: 'x', kubeConfigSecretNamespace: 'kube-system' }),
    );
    await failsWith('elsewhere', 'KubeconfigNamespaceRefused');
    await remove('elsewhere');
  });

  it('given one with another CA or a dead token, when imported, then the Cluster says so, and a new one heals it', async () => {
    await importWith('wrong-ca', kubeconfig(edge.server, hub.plane.ca));
    await failsWith('wrong-ca', 'ClusterUntrusted');
    await remove('wrong-ca');
    await importWith('dead-token', kubeconfig(edge.server, edge.ca));
    await failsWith('dead-token', 'ClusterUnauthorized');
    await secret('dead-token-kubeconfig', edge.kubeconfig);
    await clusterThat(hub, 'dead-token', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    await remove('dead-token');
  });

  it('given one that nobody tries again, when it is replaced in its Secret, then that is seen (fleet#68, rancher#41002)', async () => {
    await importWith('replaced', 'no: kubeconfig');
    await failsWith('replaced', 'KubeconfigInvalid');
    await secret('replaced-kubeconfig', edge.kubeconfig);
    await clusterThat(hub, 'replaced', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    await remove('replaced');
  });

  it('given one that leads to the hub itself, when imported, then it is refused', async () => {
    await importWith('self', hub.plane.kubeconfig);
    await failsWith('self', 'SelfRegistration');
    await remove('self');
  });

  it('given servers that refuse, hang or talk HTML, when imported, then each says so and none delays a good one', async () => {
    const keys = edge.issueServerCertificate('html', ['127.0.0.1']);
    const html = createServer({ cert: keys.cert, key: keys.key }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>');
    });
    const silent = createTcpServer(() => undefined);
    const listen = async (server: typeof html | typeof silent): Promise<string> => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closers.push(() => void server.close());
      return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const [htmlUrl, silentUrl] = await Promise.all([listen(html), listen(silent)]);
    for (let index = 0; index < 5; index++) await importWith(`silent-${index}`, kubeconfig(silentUrl, edge.ca));
    await importWith('html', kubeconfig(htmlUrl, edge.ca));
    await importWith('closed', kubeconfig('https://127.0.0.1:1', edge.ca));
    await importWith('good', edge.kubeconfig);
    await clusterThat(hub, 'good', (c) => condition(c, 'Imported')?.status === 'True', 'Imported', 4000);
    await failsWith('html', 'NotKubernetes');
    await failsWith('closed', 'ClusterUnreachable');
    await clusterThat(
      hub,
      'silent-0',
      (c) => ['TimedOut', 'ClusterUnreachable'].includes(condition(c, 'Imported')?.reason ?? ''),
      'told',
    );
    await remove('good');
    await Promise.all(['html', 'closed', 'silent-0'].map(remove));
  }, 90_000);

  it('given an imported cluster that cannot be reached any more, when deleted with the annotation, then it goes at once', async () => {
    await importWith('gone', edge.kubeconfig);
    await clusterThat(hub, 'gone', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    await secret('gone-kubeconfig', kubeconfig('https://127.0.0.1:1', edge.ca));
    await hub.admin.delete(Clusters, { namespace: workspace, name: 'gone' });
    await clusterThat(hub, 'gone', (c) => condition(c, 'Detached')?.reason === 'EdgeNotCleaned', 'told');
    await hub.admin.patch(
      Clusters,
      { namespace: workspace, name: 'gone' },
      { metadata: { annotations: { 'muster.dev/skip-edge-cleanup': 'true' } } },
      { type: 'merge' },
    );
    await poll(
      async () =>
        (await hub.admin.find(Clusters, { namespace: workspace, name: 'gone' })) === undefined ? true : undefined,
      { what: 'gone', limitMs: 25_000 },
    );
  });
});
