import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ConfigMaps, Namespaces, Secrets, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { createClient } from '../../../runtime/kube/create-client.ts';
import { parseKubeconfig } from '../../../runtime/kube/kubeconfig.ts';
import { certificateRequest } from '../pki/certificate-request.ts';
import { poll } from '../poll.ts';
import { ControlPlane } from './control-plane.ts';

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

const CertificateSigningRequests = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  namespaced: false,
} as const;

let plane: ControlPlane;
let other: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  [plane, other] = await Promise.all([ControlPlane.start({ name: 'one' }), ControlPlane.start({ name: 'two' })]);
  client = plane.client();
});
afterAll(async () => {
  await client.close();
  await Promise.all([plane.close(), other.close()]);
});

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

describe('a control plane', () => {
  it('is one of several, each with its own objects, CA and credentials', async () => {
    await client.create(Namespaces, namespace('only-here'));

    await using there = { client: other.client(), [Symbol.asyncDispose]: () => there.client.close() };
    expect(await there.client.find(Namespaces, { name: 'only-here' })).toBeUndefined();
    expect(other.ca).not.toBe(plane.ca);
    const stranger = other.clientFor(plane.adminToken);
    await expect(stranger.list(Namespaces)).rejects.toMatchObject({ status: 401 });
    await stranger.close();
  });

  it('gives an admin kubeconfig that works as it is', async () => {
    const admin = createClient(parseKubeconfig(plane.kubeconfig, { policy: 'hub' }));

    expect(await admin.find(Namespaces, { name: 'kube-system' })).toBeDefined();
    await admin.close();
  });

  it('works on behalf of its users: fills token Secrets, deletes namespaces', async () => {
    await plane.whenWorking();
    await client.create(Namespaces, namespace('work'));
    await client.create(ServiceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot', namespace: 'work' },
    });
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'robot', namespace: 'work', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
    });

    const token = await poll(
      async () => (await client.get(Secrets, { name: 'robot', namespace: 'work' })).data?.['token'],
      { what: 'the token' },
    );
    const robot = plane.clientFor(Buffer.from(token, 'base64').toString());
    await expect(robot.list(Namespaces)).rejects.toMatchObject({ status: 403 });
    await robot.close();

    await client.delete(Namespaces, { name: 'work' });
    await poll(async () => ((await client.find(Namespaces, { name: 'work' })) === undefined ? true : undefined), {
      what: 'the namespace to be gone',
    });
  });

  it('knows bootstrap tokens', async () => {
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    });
    const joiner = plane.clientFor('abcdef.0123456789abcdef');

    await poll(
      async () => {
        const error: unknown = await joiner.list(Namespaces).catch((caught: unknown) => caught);
        return (error as { status?: number }).status === 403 ? true : undefined; // known, but without rights
      },
      { what: 'the bootstrap token to be known' },
    );
    await joiner.close();
  });

  it('signs a client certificate that was asked for and approved', async () => {
    const { request, key } = certificateRequest('someone', ['testers']);
    const name = { name: 'someone' };
    await client.create(CertificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: name,
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    } as never);
    const approved = { type: 'Approved', status: 'True', reason: 'Test', message: 'approved by a test' };
    await client.raw('/apis/certificates.k8s.io/v1/certificatesigningrequests/someone/approval', {
      method: 'PUT',
      body: { ...(await client.get(CertificateSigningRequests, name)), status: { conditions: [approved] } },
    });

    const cert = await poll(
      async () => {
        const seen = (await client.get(CertificateSigningRequests, name)) as { status?: { certificate?: string } };
        return seen.status?.certificate;
      },
      { what: 'the certificate' },
    );
    const someone = createClient({
      server: plane.server,
      ca: plane.ca,
      cert: Buffer.from(cert, 'base64').toString(),
      key,
      contextName: 'someone',
    });
    await expect(someone.list(Namespaces)).rejects.toThrow(/"someone"/);
    await someone.close();
  });

  it('trusts client certificates that the harness issues', async () => {
    const { cert, key } = plane.issueClientCertificate('root-of-all', ['system:masters']);
    const master = createClient({ server: plane.server, ca: plane.ca, cert, key, contextName: 'master' });

    expect((await master.list(Namespaces)).items.length).toBeGreaterThan(3);
    await master.close();
  });

  it.each(['kube-apiserver', 'etcd', 'kube-controller-manager'] as const)(
    'keeps its objects and its address when its %s stops and starts again',
    async (component) => {
      const name = `kept-${component}`;
      await client.create(ConfigMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default' },
      });

      await plane.stop(component);
      expect(plane.isRunning(component)).toBe(false);
      await plane.restart(component);

      const found = await poll(
        () => client.find(ConfigMaps, { name, namespace: 'default' }).catch(() => undefined), // first a dead connection
        { what: 'the ConfigMap' },
      );
      expect(found.metadata.name).toBe(name);
    },
  );

  it('says what a component said when it does not start', async () => {
    const failed = ControlPlane.start({ name: 'broken', apiServerArgs: ['--no-such-flag'] });

    await expect(failed).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(/kube-apiserver ended[^]*no-such-flag/) as string,
      hint: expect.stringContaining('kube-apiserver.log') as string,
    });
  });

  it('leaves no process and frees its port when it is closed', async () => {
    const short = await ControlPlane.start({ name: 'short', controllerManager: false });
    const processes = (['kube-apiserver', 'etcd'] as const).map((component) => short.processOf(component)?.pid ?? 0);
    expect(processes.every((pid) => existsSync(`/proc/${pid}`) || process.platform !== 'linux')).toBe(true);

    await short.close();

    for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
  });
});
