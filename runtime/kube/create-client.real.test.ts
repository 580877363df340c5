import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlane } from '../../test/harness/index.ts';
import type { ConfigMap, ServiceAccount } from '../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { isAlreadyExists, isApiError, isConflict, isInvalid, isNotFound } from './api-error.ts';
import type { KubeClient } from './client.ts';
import { createClient } from './create-client.ts';
import { parseKubeconfig } from './kubeconfig.ts';
import { createMetrics } from './metrics.ts';

const configMap = (name: string, data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

describe('a client of a real API server', () => {
  let plane: ControlPlane;
  let client: KubeClient;

  beforeAll(async () => {
    plane = await ControlPlane.start({ name: 'client', controllerManager: false });
    client = createClient(parseKubeconfig(plane.kubeconfig, { policy: 'hub' }));
  });

  afterAll(async () => {
    await client.close();
    await plane.close();
  });

  it('creates, reads, applies, patches, replaces and deletes', async () => {
    // given
    const created = await client.create(ConfigMaps, configMap('crud', { a: '1' }));
    expect(created.metadata.uid).toBeDefined();

    // when
    const applied = await client.apply(ConfigMaps, configMap('crud', { b: '2' }), { fieldManager: 'test' });
    const key = { namespace: 'default', name: 'crud' };
    const patched = await client.patch(ConfigMaps, key, { data: { c: '3' } }, { type: 'merge' });
    const appended = await client.patch(ConfigMaps, key, [{ op: 'add', path: '/data/d', value: '4' }], {
      type: 'json',
    });
    const { a: _a, ...kept } = appended.data ?? {};
    const replaced = await client.replace(ConfigMaps, { ...appended, data: kept });

    // then
    expect(applied.data).toEqual({ a: '1', b: '2' });
    expect(patched.data).toEqual({ a: '1', b: '2', c: '3' });
    expect(replaced.data).toEqual({ b: '2', c: '3', d: '4' });
    await expect(client.replace(ConfigMaps, appended)).rejects.toSatisfy(isConflict);
    await expect(client.create(ConfigMaps, configMap('crud', {}))).rejects.toSatisfy(isAlreadyExists);
    const stale = { preconditions: { resourceVersion: created.metadata.resourceVersion ?? '' } };
    await expect(client.delete(ConfigMaps, key, stale)).rejects.toSatisfy(isConflict);
    await client.delete(ConfigMaps, key, { preconditions: { uid: created.metadata.uid ?? '' } });
    expect(await client.find(ConfigMaps, key)).toBeUndefined();
    await client.delete(ConfigMaps, key);
    await expect(client.delete(ConfigMaps, key, { ignoreNotFound: false })).rejects.toSatisfy(isNotFound);
  });

  it('names the object in a refusal, and the fields that are wrong', async () => {
    const missing = client.get(ConfigMaps, { namespace: 'default', name: 'nope' });
    await expect(missing).rejects.toThrow(
      'GET /api/v1/namespaces/default/configmaps/nope: configmaps "nope" not found',
    );
    const bad = client.create(ConfigMaps, configMap('Not_A_Name', {}));
    await expect(bad).rejects.toSatisfy(
      (error) => isInvalid(error) && error.details.causes?.[0]?.field === 'metadata.name',
    );
  });

  it('follows pages to the end and fills in the kind of each item', async () => {
    // given
    const names = Array.from({ length: 7 }, (_, index) => `page-${index}`);
    await Promise.all(
      names.map((name) => {
        const object = configMap(name, {});
        return client.create(ConfigMaps, { ...object, metadata: { ...object.metadata, labels: { paged: 'yes' } } });
      }),
    );

    // when
    const { items, resourceVersion } = await client.list(ConfigMaps, { labelSelector: 'paged=yes', limit: 3 });

    // then
    expect(items.map((item) => item.metadata.name)).toEqual(names);
    expect(items.every((item) => item.kind === 'ConfigMap' && item.apiVersion === 'v1')).toBe(true);
    expect(Number(resourceVersion)).toBeGreaterThan(0);
  });

  it('watches from a resourceVersion', async () => {
    // given
    const { resourceVersion } = await client.list(ConfigMaps, { namespace: 'default' });
    const stop = new AbortController();
    const events: string[] = [];

    // when
    const watching = (async () => {
      const options = { namespace: 'default', resourceVersion, signal: stop.signal };
      for await (const event of client.watch(ConfigMaps, options)) {
        if (event.type === 'BOOKMARK') continue;
        events.push(`${event.type} ${event.object.metadata.name ?? ''}`);
        if (events.length === 3) stop.abort(new Error('seen enough'));
      }
    })();
    // asked for now: it may have ended before the last call here is answered
    const ended = expect(watching).rejects.toThrow('seen enough');
    await client.create(ConfigMaps, configMap('watched', {}));
    await client.apply(ConfigMaps, configMap('watched', { a: '1' }), { fieldManager: 'test' });
    await client.delete(ConfigMaps, { namespace: 'default', name: 'watched' });

    // then
    await ended;
    expect(events).toEqual(['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
  });

  it('issues tokens, signs in with them and refuses broken ones', async () => {
    // given
    const account: ServiceAccount = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'someone', namespace: 'default' },
    };
    await client.create(ServiceAccounts, account);

    // when
    const issued = await client.createToken({ namespace: 'default', name: 'someone' }, { expirationSeconds: 600 });

    // then
    expect(Date.parse(issued.expirationTimestamp)).toBeGreaterThan(Date.now());
    const someone = plane.clientFor(issued.token);
    await expect(someone.list(Namespaces)).rejects.toSatisfy((error) => isApiError(error, 403));
    expect(await someone.raw('/version')).toMatchObject({ major: '1' });
    const broken = plane.clientFor(`${issued.token}x`);
    await expect(broken.list(Namespaces)).rejects.toSatisfy((error) => isApiError(error, 401));
  });

  it('signs in with a client certificate', async () => {
    const { cert, key } = plane.issueClientCertificate('jane', ['system:masters']);
    const jane = createClient({ server: plane.server, ca: plane.ca, cert, key, contextName: 'jane' });
    const { items } = await jane.list(Namespaces);
    expect(items.length).toBeGreaterThan(0);
  });

  it('does not trust a server without its CA, nor under another name', async () => {
    const { adminToken: token, server, ca } = plane;
    const strange = createClient({ server, token, contextName: 'x' });
    await expect(strange.raw('/version')).rejects.toMatchObject({ code: 'TLS_UNTRUSTED', where: server });
    const renamed = createClient({ server, ca, token, tlsServerName: 'elsewhere.example', contextName: 'x' });
    await expect(renamed.raw('/version')).rejects.toMatchObject({ code: 'TLS_UNTRUSTED' });
    const trusting = createClient({ server, token, insecureSkipTlsVerify: true, contextName: 'x' });
    expect(await trusting.raw('/version')).toMatchObject({ major: '1' });
  });

  it('ends a call with the reason of its signal and refuses calls after close', async () => {
    const reason = new Error('no longer wanted');
    await expect(client.raw('/version', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const closed = plane.client();
    await closed.close();
    await expect(closed.raw('/version')).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('counts requests under the names of client-go', async () => {
    const metrics = createMetrics();
    const counted = plane.client({ metrics });
    await counted.raw('/version');
    await counted.find(ConfigMaps, { namespace: 'default', name: 'nope' });
    const text = await metrics.text();
    const host = new URL(plane.server).host;
    expect(text).toContain(`rest_client_requests_total{code="200",method="GET",host="${host}"} 1`);
    expect(text).toContain(`rest_client_requests_total{code="404",method="GET",host="${host}"} 1`);
  });
});
