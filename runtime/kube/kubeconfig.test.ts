import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { MusterError } from '../../api/errors.ts';
import { isMusterError } from '../../api/errors.ts';
import { Authority } from '../../test/harness/index.ts';
import { formatKubeconfig, loadKubeconfigFile, parseKubeconfig } from './kubeconfig.ts';

const authority = Authority.create('kubeconfig-test');
const client = authority.issue({ commonName: 'jane', organizations: [], usages: ['client'] });
const base64 = (value: string): string => Buffer.from(value).toString('base64');

interface Parts {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  context?: Record<string, unknown>;
  top?: Record<string, unknown>;
}

function kubeconfig({ cluster, user, context, top }: Parts = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'east', cluster: { server: 'https://east.example:6443', ...cluster } }],
    users: [{ name: 'admin', user: user ?? { token: 'sesame' } }],
    contexts: [{ name: 'main', context: { cluster: 'east', user: 'admin', ...context } }],
    'current-context': 'main',
    ...top,
  });
}

function failure(act: () => unknown): MusterError {
  try {
    act();
  } catch (error) {
    if (isMusterError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const asHub = (text: string | Buffer): unknown => parseKubeconfig(text, { policy: 'hub' });
const asUser = (text: string | Buffer): unknown => parseKubeconfig(text, { policy: 'user' });

describe('a kubeconfig', () => {
  it('gives server, CA, credential and namespace of its current context', () => {
    const text = kubeconfig({
      cluster: {
        server: 'https://east.example:6443/prefix/',
        'certificate-authority-data': base64(authority.cert),
        'tls-server-name': 'kubernetes',
        'proxy-url': 'http://proxy.example:3128',
      },
      user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) },
      context: { namespace: 'apps' },
    });
    expect(asHub(text)).toEqual({
      server: 'https://east.example:6443/prefix',
      ca: authority.cert,
      cert: client.cert,
      key: client.key,
      tlsServerName: 'kubernetes',
      proxyUrl: 'http://proxy.example:3128',
      namespace: 'apps',
      contextName: 'main',
    });
  });

  it('can be read by another context than the current one', () => {
    const other = { name: 'other', context: { cluster: 'east', user: 'admin', namespace: 'other-ns' } };
    const text = kubeconfig({ top: { contexts: [other] } });
    expect(parseKubeconfig(text, { policy: 'hub', context: 'other' })).toMatchObject({ namespace: 'other-ns' });
  });

  it('comes back from its own formatted text', () => {
    const text = formatKubeconfig({
      server: 'https://x.example',
      ca: authority.cert,
      token: 't0k',
      namespace: 'ns',
      contextName: 'east',
    });
    expect(asHub(text)).toEqual({
      server: 'https://x.example',
      ca: authority.cert,
      token: 't0k',
      namespace: 'ns',
      contextName: 'east',
    });
    expect(parse(text)).toMatchObject({ kind: 'Config', 'current-context': 'east' });
  });

  it.each<[string, string, string, string]>([
    ['nothing', '', 'kubeconfig', 'is empty'],
    ['blanks', ' \n\t\n', 'kubeconfig', 'is empty'],
    ['no YAML', 'a: [1, 2\nb: }', 'kubeconfig line 2', 'is not valid YAML'],
    ['binary', '\u0000\u0001\u0002', 'kubeconfig', 'is not a mapping'],
    ['a text', 'hello', 'kubeconfig', 'is not a mapping'],
    ['a list', '- a', 'kubeconfig', 'is not a mapping'],
    ['two documents', 'a: 1\n---\nb: 2', 'kubeconfig line 2', 'is not valid YAML'],
    ['no current context', kubeconfig({ top: { 'current-context': '' } }), 'kubeconfig current-context', 'is not set'],
    ['an unknown context', kubeconfig({ top: { 'current-context': 'x' } }), 'kubeconfig current-context', 'not there'],
    ['contexts that are no list', kubeconfig({ top: { contexts: {} } }), 'kubeconfig contexts', 'must be a list'],
    [
      'a missing cluster',
      kubeconfig({ top: { clusters: [] } }),
      'kubeconfig contexts[main].context.cluster',
      'not there',
    ],
    ['a missing user', kubeconfig({ top: { users: null } }), 'kubeconfig contexts[main].context.user', 'not there'],
    ['no user named', kubeconfig({ context: { user: '' } }), 'kubeconfig contexts[main].context.user', 'is not set'],
    ['no server', kubeconfig({ cluster: { server: null } }), 'kubeconfig clusters[east].cluster.server', 'is not set'],
    [
      'no URL',
      kubeconfig({ cluster: { server: 'east:6443' } }),
      'kubeconfig clusters[east].cluster.server',
      'must be a URL',
    ],
    [
      'another scheme',
      kubeconfig({ cluster: { server: 'ftp://x' } }),
      'kubeconfig clusters[east].cluster.server',
      'URL',
    ],
    [
      'a user in the URL',
      kubeconfig({ cluster: { server: 'https://a:b@x' } }),
      'kubeconfig clusters[east].cluster.server',
      'no user',
    ],
    ['a number as token', kubeconfig({ user: { token: 12 } }), 'kubeconfig users[admin].user.token', 'not a number'],
    [
      'a line break in the token',
      kubeconfig({ user: { token: 'a\nb' } }),
      'kubeconfig users[admin].user.token',
      'cannot have',
    ],
    ['no credential', kubeconfig({ user: {} }), 'kubeconfig users[admin].user', 'holds no credential'],
    [
      'bad base64',
      kubeconfig({ cluster: { 'certificate-authority-data': '%%%' } }),
      'kubeconfig clusters[east].cluster.certificate-authority-data',
      'base64',
    ],
    [
      'no certificate',
      kubeconfig({ cluster: { 'certificate-authority-data': base64('hello') } }),
      'kubeconfig clusters[east].cluster.certificate-authority-data',
      'no PEM certificate',
    ],
    [
      'a key alone',
      kubeconfig({ user: { 'client-key-data': base64(client.key) } }),
      'kubeconfig users[admin].user',
      'together',
    ],
    [
      'a broken key',
      kubeconfig({ user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64('x') } }),
      'kubeconfig users[admin].user.client-key-data',
      'no PEM private key',
    ],
  ])('that is %s is refused with the reason', (_name, text, where, reason) => {
    const error = failure(() => asHub(text));
    expect(error.code).toBe('INVALID_KUBECONFIG');
    expect(error.where).toBe(where);
    expect(error.message).toContain(reason);
    expect(error.hint).toBeDefined();
  });

  it.each<[string, Parts]>([
    ['exec', { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws' } } }],
    ['auth-provider', { user: { 'auth-provider': { name: 'gcp' } } }],
    ['certificate-authority', { cluster: { 'certificate-authority': '/etc/passwd' } }],
    ['client-certificate', { user: { 'client-certificate': 'a.pem', 'client-key': 'b.pem' } }],
    ['tokenFile', { user: { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' } }],
    ['insecure-skip-tls-verify', { cluster: { 'insecure-skip-tls-verify': true } }],
    ['server', { cluster: { server: 'http://east.example' } }],
  ])('with %s is refused by a hub, and no file is read', (key, parts) => {
    const error = failure(() => asHub(kubeconfig(parts)));
    expect(error.code).toBe('KUBECONFIG_REFUSED');
    expect(error.where).toContain(key);
  });

  it('may be insecure for a hub that was told so', () => {
    const text = kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } });
    expect(parseKubeconfig(text, { policy: 'hub', allowInsecure: true })).toMatchObject({
      insecureSkipTlsVerify: true,
    });
  });

  it.each<[string, Parts]>([
    ['a SOCKS proxy', { cluster: { 'proxy-url': 'socks5://p:1080' } }],
    ['impersonation', { user: { token: 't', as: 'root' } }],
    ['an auth provider', { user: { 'auth-provider': { name: 'gcp' } } }],
    [
      'a plugin that wants a terminal',
      { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Always' } } },
    ],
  ])('with %s is called unsupported', (_name, parts) => {
    expect(failure(() => asUser(kubeconfig(parts))).code).toBe('UNSUPPORTED');
  });
});

describe('a kubeconfig of the user', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-kubeconfig-'));
    writeFileSync(join(dir, 'ca.pem'), authority.cert);
    writeFileSync(join(dir, 'cert.pem'), client.cert);
    writeFileSync(join(dir, 'key.pem'), client.key);
    writeFileSync(join(dir, 'token'), 'from-file\n');
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('names files from its own directory', () => {
    const path = join(dir, 'config');
    const cluster = { 'certificate-authority': 'ca.pem' };
    const user = { 'client-certificate': 'cert.pem', 'client-key': 'key.pem', tokenFile: 'token' };
    writeFileSync(path, kubeconfig({ cluster, user }));
    const { ca, cert, key } = { ca: authority.cert, ...client };
    expect(loadKubeconfigFile(path)).toMatchObject({ ca, cert, key, tokenFile: join(dir, 'token') });
  });

  it('says which file cannot be read', () => {
    const text = kubeconfig({ cluster: { 'certificate-authority': 'missing.pem' } });
    const error = failure(() => parseKubeconfig(text, { policy: 'user', baseDir: dir }));
    expect(error.describe()).toContain('certificate-authority: names a file that cannot be read (ENOENT)');
    expect(failure(() => loadKubeconfigFile(join(dir, 'nope'))).code).toBe('INVALID_KUBECONFIG');
  });

  it('may name an exec plugin', () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: './plugin',
      args: ['a'],
      env: [{ name: 'A', value: 'b' }],
      provideClusterInfo: true,
    };
    expect(parseKubeconfig(kubeconfig({ user: { exec } }), { policy: 'user', baseDir: dir }).exec).toEqual({
      ...exec,
      command: join(dir, 'plugin'),
    });
  });
});

describe('any text at all', () => {
  const secret = 'S3cr3tS3cr3tS3cr3t';
  const codes = ['INVALID_KUBECONFIG', 'KUBECONFIG_REFUSED', 'UNSUPPORTED'];

  /** Parses; only errors of the three codes may come out, and never with the secret in them. */
  const accept = (text: string | Buffer): void => {
    for (const parseIt of [asHub, asUser]) {
      try {
        parseIt(text);
      } catch (error) {
        if (!isMusterError(error)) throw error;
        expect(codes).toContain(error.code);
        expect(`${error.describe()} ${error.stack ?? ''}`).not.toContain(secret);
      }
    }
  };

  it('ends in a config or in one of three errors', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), accept), { numRuns: 500 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => accept(Buffer.from(bytes))),
      { numRuns: 300 },
    );
  });

  it('ends so as well when one place of a good kubeconfig is replaced by anything', () => {
    const user = { token: secret, exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', env: [] } };
    const cluster = { 'certificate-authority-data': base64(authority.cert), 'proxy-url': 'http://p' };
    const good = parse(kubeconfig({ user, cluster })) as object;
    const paths = placesOf(good);
    const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(secret, '\u0000', '__proto__', -0, 1e308));
    fc.assert(
      fc.property(fc.constantFrom(...paths), anything, (path, value) => {
        accept(stringify(replaced(good, path, value)));
      }),
      { numRuns: 500 },
    );
  });

  it('ends so as well when it is cut or has bytes changed', () => {
    const good = kubeconfig({ user: { token: secret } });
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(good.length), fc.string({ maxLength: 4 }), (from, length, insert) => {
        accept(good.slice(0, from) + insert + good.slice(from + length));
      }),
      { numRuns: 400 },
    );
  });

  it('does not blow up on aliases of aliases', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((name, index) => {
        const before = 'abcdefgh'[index] ?? 'a';
        return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`;
      }),
    ].join('\n');
    expect(failure(() => asUser(bomb)).code).toBe('INVALID_KUBECONFIG');
  });
});

type Path = (string | number)[];

function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, item]) =>
    placesOf(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return path.length === 0 ? inner : [path, ...inner];
}

function replaced(value: unknown, [first, ...rest]: Path, by: unknown): unknown {
  if (first === undefined) return by;
  const copy: Record<string | number, unknown> = Array.isArray(value)
    ? ([...(value as unknown[])] as never)
    : { ...(value as Record<string, unknown>) };
  copy[first] = replaced(copy[first], rest, by);
  return copy;
}
