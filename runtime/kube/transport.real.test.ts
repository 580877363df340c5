import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlane, FaultProxy } from '../../test/harness/index.ts';
import type { ConfigMap, ServiceAccount } from '../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { isApiError, isConflict, isExpired } from './api-error.ts';
import type { KubeClient } from './client.ts';
import type { ClientConfig } from './client-config.ts';
import { createClient } from './create-client.ts';
import { inClusterConfig } from './in-cluster.ts';

let plane: ControlPlane;
let proxy: FaultProxy;
let config: ClientConfig;
let client: KubeClient;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'transport', controllerManager: false });
  proxy = await FaultProxy.start(plane);
  config = { server: proxy.server, ca: proxy.ca, token: plane.adminToken, contextName: 'proxy' };
  client = createClient(config);
});

afterAll(async () => {
  await client.close();
  await proxy.close();
  await plane.close();
});

afterEach(() => proxy.clear());

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

const calls = (method: string): number => proxy.count({ method, path: 'configmaps' });

describe('a call through a faulty network', () => {
  it('is sent again after a reset when that does no harm', async () => {
    proxy.fail({ reset: 'before', match: { method: 'PATCH' }, times: 2 });
    const applied = await client.apply(ConfigMaps, configMap('reset'), { fieldManager: 'test' });
    expect(applied.metadata.uid).toBeDefined();
    expect(calls('PATCH')).toBe(3);
  });

  it('is not sent again after a reset when it creates: it may have been done', async () => {
    proxy.fail({ reset: 'after', match: { method: 'POST' }, times: 1 });
    const lost = client.create(ConfigMaps, configMap('lost-answer'));
    await expect(lost).rejects.toMatchObject({ code: 'UNREACHABLE', retryable: true, where: proxy.server });
    expect(calls('POST')).toBe(1);
    expect(await client.find(ConfigMaps, { namespace: 'default', name: 'lost-answer' })).toBeDefined();
  });

  it('gives up on resets after some tries', async () => {
    proxy.fail({ reset: 'before' });
    await expect(client.list(ConfigMaps)).rejects.toMatchObject({ code: 'UNREACHABLE' });
  });

  it('ends at its deadline when the server hangs, and is not sent again', async () => {
    proxy.fail({ hang: true, match: { path: '/version' } });
    const hanging = client.raw('/version', { timeoutMs: 200 });
    await expect(hanging).rejects.toMatchObject({ code: 'TIMEOUT', where: proxy.server, retryable: true });
    expect(proxy.count({ path: '/version' })).toBe(1);
  });

  it('ends when its caller no longer wants it', async () => {
    proxy.fail({ hang: true });
    const caller = new AbortController();
    const reason = new Error('changed my mind');
    const hanging = client.raw('/version', { signal: caller.signal });
    setImmediate(() => caller.abort(reason));
    await expect(hanging).rejects.toBe(reason);
  });

  it('waits as long as a busy server asks, then is sent again, a creation too', async () => {
    proxy.fail({ status: 429, retryAfter: 1, match: { method: 'POST' }, times: 1 });
    const started = performance.now();
    await client.create(ConfigMaps, configMap('patient'));
    expect(performance.now() - started).toBeGreaterThanOrEqual(999);
  });

  it('hands on a 429 that asks for too long a wait', async () => {
    proxy.fail({ status: 429, retryAfter: 3600 });
    await expect(client.list(ConfigMaps)).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
  });

  it('hands on 409, 410 and 500 at once', async () => {
    const before = proxy.requests.length;
    for (const [status, check] of [
      [409, isConflict],
      [410, isExpired],
      [500, (error: unknown) => isApiError(error, 500)],
    ] as const) {
      proxy.fail({ status, times: 1 });
      await expect(client.list(ConfigMaps)).rejects.toSatisfy(check);
    }
    expect(proxy.requests.length - before).toBe(3);
  });

  it('survives a server that is slow', async () => {
    proxy.fail({ slowMs: 300, times: 1 });
    expect(await client.raw('/version')).toMatchObject({ major: '1' });
  });

  it('reads a list anew when its later pages have expired', async () => {
    await Promise.all(
      ['p1', 'p2', 'p3'].map((name) => client.apply(ConfigMaps, configMap(name), { fieldManager: 'test' })),
    );
    proxy.fail({ status: 410, match: { path: 'continue=' }, times: 1 });
    const { items } = await client.list(ConfigMaps, { namespace: 'default', limit: 2 });
    const names = items.map((item) => item.metadata.name ?? '');
    expect(names).toEqual(expect.arrayContaining(['p1', 'p2', 'p3']));
    expect(new Set(names).size).toBe(names.length);
  });

  it('does not trust the proxy without its CA, and sends it no token', async () => {
    const strict = createClient({ ...config, ca: plane.ca });
    const before = proxy.requests.length;
    await expect(strict.raw('/version')).rejects.toMatchObject({ code: 'TLS_UNTRUSTED' });
    expect(proxy.requests.length).toBe(before);
  });
});

describe('the identity of a pod', () => {
  it('follows its token file: an expired token is replaced by the one in the file after a 401', async () => {
    // given
    const account: ServiceAccount = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'pod', namespace: 'default' },
    };
    await client.create(ServiceAccounts, account);
    const token = async (): Promise<string> =>
      (await client.createToken({ namespace: 'default', name: 'pod' }, { expirationSeconds: 600 })).token;
    const dir = mkdtempSync(join(tmpdir(), 'muster-pod-'));
    try {
      writeFileSync(join(dir, 'ca.crt'), plane.ca);
      writeFileSync(join(dir, 'namespace'), 'default\n');
      writeFileSync(join(dir, 'token'), `${await token()}\n`);
      const { port } = new URL(plane.server);
      const pod = createClient(
        inClusterConfig({
          KUBERNETES_SERVICE_HOST: '127.0.0.1',
          KUBERNETES_SERVICE_PORT: port,
          MUSTER_SERVICE_ACCOUNT_DIR: dir,
        }),
      );
      await expect(pod.list(Namespaces)).rejects.toSatisfy((error) => isApiError(error, 403));

      // when: the account is made anew, which ends the old token; the kubelet writes another
      await client.delete(ServiceAccounts, { namespace: 'default', name: 'pod' });
      await client.create(ServiceAccounts, account);
      writeFileSync(join(dir, 'token'), await token());

      // then: 403 (who it is is known), not 401
      await expect(pod.list(Namespaces)).rejects.toSatisfy((error) => isApiError(error, 403));
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('is not there outside a pod', () => {
    expect(() => inClusterConfig({})).toThrow('no in-cluster configuration: KUBERNETES_SERVICE_HOST is not set');
    const env = { KUBERNETES_SERVICE_HOST: 'x', MUSTER_SERVICE_ACCOUNT_DIR: '/nowhere' };
    expect(() => inClusterConfig(env)).toThrow('/nowhere/token is not there');
  });
});
