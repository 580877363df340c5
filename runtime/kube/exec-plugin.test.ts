import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClientConfig, ExecPlugin } from './client-config.ts';
import { createClient } from './create-client.ts';
import { execCredential, forgetExecCredential } from './exec-plugin.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-exec-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const apiVersion = 'client.authentication.k8s.io/v1';

type ExecConfig = ClientConfig & { exec: ExecPlugin };

/** A plugin that runs `body` (with `count`, how often it ran before, and `info`, what it was told). */
function plugin(body: string, overrides: Partial<ExecPlugin> = {}): ExecConfig {
  const command = join(dir, 'plugin.mjs');
  const head = `#!${process.execPath}
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const file = ${JSON.stringify(join(dir, 'count'))};
const count = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
writeFileSync(file, String(count + 1));
const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
const give = (status) => console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: 'ExecCredential', status }));
`;
  writeFileSync(command, head + body);
  chmodSync(command, 0o755);
  const exec = { apiVersion, command, args: [], env: [], provideClusterInfo: false, ...overrides } as const;
  return { server: 'https://x.example', contextName: 'c', exec };
}

const runs = (): number => Number(readFileSync(join(dir, 'count'), 'utf8'));

describe('an exec plugin', () => {
  it('is run once for all who wait, and again when its credential is about to expire', async () => {
    // given
    const config = plugin(
      `give({ token: 't' + count, expirationTimestamp: new Date(Date.now() + 60_000).toISOString() });`,
    );

    // when
    const first = await Promise.all([execCredential(config), execCredential(config)]);
    const second = await execCredential(config);
    const later = await execCredential(config, () => Date.now() + 55_000);

    // then
    expect([...first, second, later].map(({ token }) => token)).toEqual(['t0', 't0', 't0', 't1']);
    forgetExecCredential(config);
    expect((await execCredential(config)).token).toBe('t2');
    expect(runs()).toBe(3);
  });

  it('gets its arguments and environment, and the cluster when it asks for it', async () => {
    const env = [{ name: 'WHO', value: 'me' }];
    const body = `give({ token: [process.env.WHO, process.argv[2], info.spec.cluster?.server].join(' ') });`;
    expect((await execCredential(plugin(body, { env, args: ['arg'] }))).token).toBe('me arg ');
    const told = plugin(body, { env, args: ['arg'], provideClusterInfo: true });
    expect((await execCredential(told)).token).toBe('me arg https://x.example');
  });

  it('may give a client certificate', async () => {
    const config = plugin(`give({ clientCertificateData: 'CERT', clientKeyData: 'KEY' });`);
    expect(await execCredential(config)).toEqual({ cert: 'CERT', key: 'KEY' });
  });

  it.each([
    ['fails', `console.error('log in first\\nmore'); process.exit(3);`, 'failed: log in first'],
    ['prints no JSON', `console.log('sesame');`, 'did not print JSON'],
    ['prints something else', `console.log('{"kind":"Pod","token":"sesame"}');`, 'did not print an ExecCredential'],
    ['prints null', `console.log('null');`, 'did not print an ExecCredential'],
    ['prints an empty credential', `give({ token: '' });`, 'printed no credential'],
  ])('that %s ends in UNAUTHORIZED and is asked again next time', async (_name, body, message) => {
    const config = plugin(body);
    for (const times of [1, 2]) {
      const error = await execCredential(config).catch((failure: unknown) => failure as Error);
      expect(error).toMatchObject({ code: 'UNAUTHORIZED', where: config.exec.command });
      expect((error as Error).message).toContain(message);
      expect(JSON.stringify(error) + String(error)).not.toContain('sesame');
      expect(runs()).toBe(times);
    }
  });

  it('that is not installed says how to get it', async () => {
    const exec = {
      apiVersion,
      command: 'no-such-plugin',
      args: [],
      env: [],
      installHint: 'brew it',
      provideClusterInfo: false,
    } as const;
    const missing = execCredential({ server: 'https://x.example', contextName: 'c', exec });
    await expect(missing).rejects.toMatchObject({ code: 'UNAUTHORIZED', hint: 'brew it' });
  });

  it('is asked again by a client when the server refuses its credential', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization ?? '');
      response.writeHead(seen.length === 1 ? 401 : 200, { 'content-type': 'application/json' });
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const config = plugin(`give({ token: 't' + count });`);
    const client = createClient({ ...config, server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    expect(await client.raw('/version')).toEqual({});
    expect(seen).toEqual(['Bearer t0', 'Bearer t1']);
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });
});
