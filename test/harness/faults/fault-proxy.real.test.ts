import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { FaultProxy } from './fault-proxy.ts';
import { TcpCut } from './tcp-cut.ts';

// Real programs on shared cores: generous, since it ends a hang and decides nothing else.
vi.setConfig({ testTimeout: 120_000 });

let plane: ControlPlane;
let proxy: FaultProxy;

beforeAll(async () => {
  plane = await ControlPlane.start({ name: 'faults', controllerManager: false });
  proxy = await FaultProxy.start(plane);
});
afterAll(async () => {
  await proxy.close();
  await plane.close();
});
afterEach(() => proxy.clear());

function open(path: string, method = 'GET', body?: unknown, target = { server: proxy.server, ca: proxy.ca }) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${plane.adminToken}`, 'content-type': 'application/json' };
    const call = request(new URL(path, target.server), { method, headers, ca: target.ca, agent: false }, resolve);
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function ask(path: string, method = 'GET', body?: unknown) {
  const response = await open(path, method, body);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) as Record<string, unknown> };
}

const maps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

describe('FaultProxy', () => {
  it('passes requests, bodies and credentials on when no fault is set', async () => {
    expect((await ask(maps, 'POST', configMap('passed'))).status).toBe(201);
    expect((await ask(`${maps}/passed`)).body).toMatchObject({ metadata: { name: 'passed' } });
  });

  it.each([
    [409, 'Conflict'],
    [410, 'Expired'],
    [500, 'InternalError'],
  ])('answers %i as an apiserver does, as often as told, to matching requests only', async (status, reason) => {
    proxy.fail({ status, match: { method: 'GET', path: /configmaps/ }, times: 2 });

    expect((await ask('/api/v1/namespaces')).status).toBe(200);
    for (let i = 0; i < 2; i++) {
      expect((await ask(maps)).body).toMatchObject({ kind: 'Status', status: 'Failure', reason, code: status });
    }
    expect((await ask(maps)).status).toBe(200);
  });

  it('says in a 429 when to come back', async () => {
    proxy.fail({ status: 429, retryAfter: 7, times: 1 });

    const answer = await ask(maps, 'POST', configMap('throttled'));

    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.body).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 7 } });
    expect((await ask(`${maps}/throttled`)).status).toBe(404);
  });

  it('resets a connection before the request is done', async () => {
    proxy.fail({ reset: 'before', times: 1 });

    await expect(open(maps, 'POST', configMap('before'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await ask(`${maps}/before`)).status).toBe(404);
  });

  it('loses the answer of a request that was done', async () => {
    proxy.fail({ reset: 'after', match: { method: 'POST' }, times: 1 });

    await expect(open(maps, 'POST', configMap('after'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await ask(`${maps}/after`)).status).toBe(200);
  });

  it('lets a request hang until the fault is cleared', async () => {
    proxy.fail({ hang: true, match: { path: '/hang' } });
    const hanging = open('/hang');
    const outcome = hanging.then(
      () => 'answered',
      (error: NodeJS.ErrnoException) => error.code,
    );

    expect((await ask('/api/v1/namespaces')).status).toBe(200); // others are not held up
    proxy.clear();

    expect(await outcome).toBe('ECONNRESET');
  });

  it('delays a request by the time given', async () => {
    proxy.fail({ slowMs: 300, times: 1 });
    const before = performance.now();

    expect((await ask(maps)).status).toBe(200);

    expect(performance.now() - before).toBeGreaterThanOrEqual(299);
  });

  it('silences a watch after so many events and keeps its connection open', async () => {
    await ask(maps, 'POST', configMap('seen-1'));
    await ask(maps, 'POST', configMap('seen-2'));
    proxy.fail({ halfOpenWatch: true, afterEvents: 1, match: { watch: true }, times: 1 });

    const silenced = await open(`${maps}?watch=true`);
    const healthy = await open(`${maps}?watch=true`);
    const lines: Record<string, string[]> = { silenced: [], healthy: [] };
    let closed = false;
    const collect = (name: 'silenced' | 'healthy', from: IncomingMessage): void => {
      let text = '';
      from.on('data', (chunk) => {
        text += String(chunk);
        lines[name] = text.split('\n').slice(0, -1);
      });
      from.on('error', () => undefined);
    };
    silenced.on('close', () => (closed = true));
    collect('silenced', silenced);
    collect('healthy', healthy);
    await ask(maps, 'POST', configMap('not-seen'));
    await expect.poll(() => lines['healthy']?.some((line) => line.includes('"not-seen"'))).toBe(true);

    expect(lines['silenced']).toHaveLength(1);
    expect(closed).toBe(false);
    healthy.destroy();
    proxy.clear();
    await expect.poll(() => closed).toBe(true);
  });

  it('notes what arrived', async () => {
    const before = proxy.count({ method: 'DELETE' });

    await ask(`${maps}/nothing`, 'DELETE');

    expect(proxy.count({ method: 'DELETE' })).toBe(before + 1);
  });
});

describe('TcpCut', () => {
  it('relays, refuses, resets, swallows and relays again', async () => {
    await using cut = await TcpCut.start(plane.server);
    const through = () => open('/readyz', 'GET', undefined, { server: cut.server, ca: plane.ca });

    expect((await through()).statusCode).toBe(200);

    await cut.set('refused');
    await expect(through()).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    await cut.set('reset');
    await expect(through()).rejects.toMatchObject({ code: 'ECONNRESET' });

    await cut.set('silent');
    const swallowed = through().then(
      () => 'answered',
      (error: NodeJS.ErrnoException) => error.code,
    );
    await expect.poll(() => cut.connections).toBe(1);
    await cut.set('reset');
    expect(await swallowed).toBe('ECONNRESET');

    await cut.set('open');
    expect((await through()).statusCode).toBe(200);
  });

  it('cuts a watch that is under way', async () => {
    await using cut = await TcpCut.start(plane.server);
    const watch = await open(`${maps}?watch=true`, 'GET', undefined, { server: cut.server, ca: plane.ca });
    const lost = new Promise((resolve) => watch.once('error', resolve));
    watch.resume();

    cut.dropAll();

    expect(await lost).toMatchObject({ code: 'ECONNRESET' });
  });
});
