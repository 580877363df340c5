/**
 * Kubeconfig text to {@link ClientConfig}, under one of two policies: a hub reads what strangers hand it, so whatever
 * would run a program, read a local file or trust an unproven server is refused; a user's own file may do all of that.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig, ExecPlugin } from './client-config.ts';
import type { Fields } from './kubeconfig-reader.ts';
import {
  absolute,
  file,
  flag,
  invalid,
  mapping,
  mappings,
  named,
  pem,
  readDocument,
  text,
  texts,
  url,
} from './kubeconfig-reader.ts';

/** Options of {@link parseKubeconfig}. */
export interface KubeconfigOptions {
  /**
   * `hub`: the text comes from someone else. Exec and auth-provider plugins, file paths, token files, plain http and
   * insecure-skip-tls-verify are refused (KUBECONFIG_REFUSED). `user`: the text is the caller's own.
   */
  readonly policy: 'hub' | 'user';
  /** Directory that relative file names start from. Default: the working directory. Policy `user` only. */
  readonly baseDir?: string;
  /** Context to use instead of `current-context`. */
  readonly context?: string;
  /** Lets policy `hub` accept insecure-skip-tls-verify and plain http. Default: false. */
  readonly allowInsecure?: boolean;
}

/**
 * The chosen context of a kubeconfig. Throws MusterError INVALID_KUBECONFIG with the reason, KUBECONFIG_REFUSED for
 * what the policy forbids, UNSUPPORTED for valid settings that muster does not have.
 */
export function parseKubeconfig(content: string | Buffer, options: KubeconfigOptions): ClientConfig {
  const document = readDocument(content);
  const contextName = options.context ?? text(document, 'current-context');
  if (contextName === undefined) throw invalid('current-context', 'is not set');
  const context = named(document, 'contexts', 'context', contextName);
  if (context === undefined) throw invalid('current-context', 'names a context that is not there');
  const cluster = referenced(document, context, 'clusters', 'cluster');
  const user = referenced(document, context, 'users', 'user');
  if (options.policy === 'hub') refuseUntrusted(cluster, user, options.allowInsecure ?? false);
  const baseDir = resolve(options.baseDir ?? '.');
  const config = { ...clusterConfig(cluster, baseDir), ...userConfig(user, baseDir) };
  if (options.policy === 'hub' && !hasCredential(config)) throw invalid(user.where, 'holds no credential');
  const namespace = text(context, 'namespace');
  return { ...config, ...(namespace === undefined ? {} : { namespace }), contextName };
}

function referenced(document: Fields, context: Fields, list: string, key: 'cluster' | 'user'): Fields {
  const name = text(context, key);
  if (name === undefined) throw invalid(`${context.where}.${key}`, `is not set`);
  const found = named(document, list, key, name);
  if (found === undefined) throw invalid(`${context.where}.${key}`, `names a ${key} that is not there`);
  return found;
}

function refuseUntrusted(cluster: Fields, user: Fields, allowInsecure: boolean): void {
  const refuse = (fields: Fields, key: string, why: string): never => {
    throw new MusterError('KUBECONFIG_REFUSED', `${key} is refused: ${why}`, {
      where: `kubeconfig ${fields.where}.${key}`,
      hint: 'Use a kubeconfig that is complete in itself, with a token or a client certificate and the CA as data.',
    });
  };
  if (mapping(user, 'exec') !== undefined) refuse(user, 'exec', 'it would run a program on the hub');
  if (mapping(user, 'auth-provider') !== undefined) refuse(user, 'auth-provider', 'it would run a plugin on the hub');
  for (const [fields, key] of [
    [cluster, 'certificate-authority'],
    [user, 'client-certificate'],
    [user, 'client-key'],
    [user, 'tokenFile'],
  ] as const) {
    if (text(fields, key) !== undefined) refuse(fields, key, 'it names a file of the hub');
  }
  if (allowInsecure) return;
  if (flag(cluster, 'insecure-skip-tls-verify')) {
    refuse(cluster, 'insecure-skip-tls-verify', 'the credential could go to anyone');
  }
  if (url(cluster, 'server')?.startsWith('http:')) refuse(cluster, 'server', 'plain http shows the credential to all');
}

function clusterConfig(cluster: Fields, baseDir: string): Omit<ClientConfig, 'contextName'> {
  const server = url(cluster, 'server');
  if (server === undefined) throw invalid(`${cluster.where}.server`, 'is not set');
  const { protocol, username, search, hash } = new URL(server);
  if (!/^https?:$/.test(protocol)) throw invalid(`${cluster.where}.server`, 'must be an http or https URL');
  if (username !== '' || search !== '' || hash !== '') {
    throw invalid(`${cluster.where}.server`, 'must have no user, query or fragment');
  }
  const ca = pem(cluster, 'certificate-authority', 'certificate', baseDir);
  const insecure = flag(cluster, 'insecure-skip-tls-verify');
  if (insecure && ca !== undefined) {
    throw invalid(`${cluster.where}.insecure-skip-tls-verify`, 'excludes a certificate authority');
  }
  const proxyUrl = url(cluster, 'proxy-url');
  if (proxyUrl?.startsWith('socks')) {
    throw unsupported(`${cluster.where}.proxy-url`, 'SOCKS proxies are not supported', 'Use an http or https proxy.');
  }
  const tlsServerName = text(cluster, 'tls-server-name');
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(insecure ? { insecureSkipTlsVerify: true } : {}),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
}

type UserConfig = Pick<ClientConfig, 'cert' | 'key' | 'token' | 'tokenFile' | 'exec' | 'username' | 'password'>;

function userConfig(user: Fields, baseDir: string): UserConfig {
  if (mapping(user, 'auth-provider') !== undefined) {
    throw unsupported(`${user.where}.auth-provider`, 'auth-provider plugins are gone', 'Use an exec plugin.');
  }
  if (['as', 'as-uid'].some((key) => text(user, key) !== undefined) || texts(user, 'as-groups').length > 0) {
    throw unsupported(`${user.where}.as`, 'impersonation is not supported', 'Use the credential of that user itself.');
  }
  const cert = pem(user, 'client-certificate', 'certificate', baseDir);
  const key = pem(user, 'client-key', 'private key', baseDir);
  if ((cert === undefined) !== (key === undefined)) {
    throw invalid(user.where, 'must have client-certificate and client-key together or neither');
  }
  const token = text(user, 'token')?.trim();
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw invalid(`${user.where}.token`, 'holds characters that a token cannot have');
  }
  const tokenFile = text(user, 'tokenFile');
  if (tokenFile !== undefined) file(`${user.where}.tokenFile`, tokenFile, baseDir);
  const username = text(user, 'username');
  const password = text(user, 'password');
  const exec = mapping(user, 'exec');
  return {
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
    ...(tokenFile === undefined ? {} : { tokenFile: absolute(tokenFile, baseDir) }),
    ...(exec === undefined ? {} : { exec: execPlugin(exec, baseDir) }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

function execPlugin(exec: Fields, baseDir: string): ExecPlugin {
  const apiVersion = text(exec, 'apiVersion');
  if (apiVersion !== 'client.authentication.k8s.io/v1' && apiVersion !== 'client.authentication.k8s.io/v1beta1') {
    throw invalid(`${exec.where}.apiVersion`, 'must be client.authentication.k8s.io/v1 or v1beta1');
  }
  if (text(exec, 'interactiveMode') === 'Always') {
    throw unsupported(`${exec.where}.interactiveMode`, 'the plugin wants a terminal', 'Use a credential without one.');
  }
  const command = text(exec, 'command');
  if (command === undefined) throw invalid(`${exec.where}.command`, 'is not set');
  const installHint = text(exec, 'installHint');
  return {
    apiVersion,
    command: command.includes('/') ? absolute(command, baseDir) : command,
    args: texts(exec, 'args'),
    env: mappings(exec, 'env').map((fields) => ({
      name: text(fields, 'name') ?? '',
      value: text(fields, 'value') ?? '',
    })),
    ...(installHint === undefined ? {} : { installHint }),
    provideClusterInfo: flag(exec, 'provideClusterInfo'),
  };
}

function hasCredential(config: UserConfig): boolean {
  return config.cert !== undefined || config.token !== undefined || config.username !== undefined;
}

function unsupported(where: string, reason: string, hint: string): MusterError {
  return new MusterError('UNSUPPORTED', reason, { where: `kubeconfig ${where}`, hint });
}

/** Reads `path`, else the first file of KUBECONFIG, else `~/.kube/config`, under policy `user`. */
export function loadKubeconfigFile(path?: string, options: { context?: string } = {}): ClientConfig {
  const fromEnvironment = (process.env['KUBECONFIG'] ?? '').split(delimiter).find((name) => name !== '');
  const name = path ?? fromEnvironment ?? join(homedir(), '.kube', 'config');
  let content: Buffer;
  try {
    content = readFileSync(name);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new MusterError('INVALID_KUBECONFIG', `cannot be read (${code})`, {
      where: name,
      hint: 'Name a kubeconfig with --kubeconfig or KUBECONFIG.',
    });
  }
  return parseKubeconfig(content, { policy: 'user', baseDir: dirname(name), ...options });
}

/**
 * A kubeconfig text with one cluster, one user with a token and one context. `ca` is PEM. It is written as JSON, which
 * every reader of YAML takes and which an agent reads back without a YAML parser.
 */
export function formatKubeconfig(config: {
  server: string;
  ca?: string;
  token: string;
  namespace?: string;
  /** Also the name of cluster and user. Default: `default`. */
  contextName?: string;
}): string {
  const name = config.contextName ?? 'default';
  const ca = config.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(config.ca).toString('base64') };
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: config.server, ...ca } }],
    users: [{ name, user: { token: config.token } }],
    contexts: [
      {
        name,
        context: {
          cluster: name,
          user: name,
          ...(config.namespace === undefined ? {} : { namespace: config.namespace }),
        },
      },
    ],
    'current-context': name,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
