/**
 * Exec credential plugins (Kubernetes: client-go credential plugins). Answers are kept until they expire, by a hash of
 * everything that could change them, so two kubeconfigs whose users happen to share a name never share a credential.
 */
import { createHash } from 'node:crypto';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig, ExecPlugin } from './client-config.ts';
import { redactTokens } from './logger.ts';

/** What a plugin gave. */
export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds since the epoch; never when absent. */
  readonly expiresAt?: number;
}

const cache = new Map<string, Promise<ExecCredential>>();

type ExecConfig = ClientConfig & { readonly exec: ExecPlugin };

/** The credential of `config.exec`: from the cache while it lives, else by running the plugin once for all who wait. */
export async function execCredential(config: ExecConfig, now: () => number = Date.now): Promise<ExecCredential> {
  const key = cacheKey(config);
  const known = cache.get(key);
  if (known !== undefined) {
    const credential = await known;
    if (credential.expiresAt === undefined || credential.expiresAt - durations.execExpiryMargin > now()) {
      return credential;
    }
    if (cache.get(key) === known) cache.delete(key);
  }
  let running = cache.get(key);
  if (running === undefined) {
    running = runPlugin(config);
    cache.set(key, running);
    const forget = (): void => void cache.delete(key);
    running.catch(forget);
  }
  return await running;
}

/** Forgets the credential, because the server refused it. */
export function forgetExecCredential(config: ExecConfig): void {
  cache.delete(cacheKey(config));
}

function cacheKey({ exec, server, ca, tlsServerName }: ExecConfig): string {
  const { command, args, env, apiVersion, provideClusterInfo } = exec;
  const content = [command, args, env, apiVersion, ...(provideClusterInfo ? [server, ca, tlsServerName] : [])];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

async function runPlugin(config: ExecConfig): Promise<ExecCredential> {
  const { exec } = config;
  // Loaded on first use: agents never run plugins, and each module counts in their idle memory.
  const { execFile } = await import('node:child_process');
  const env = { ...process.env, ...Object.fromEntries(exec.env.map(({ name, value }) => [name, value])) };
  env['KUBERNETES_EXEC_INFO'] = JSON.stringify(execInfo(config));
  const output = await new Promise<string>((resolve, reject) => {
    const options = { env, timeout: durations.execTimeout, maxBuffer: 1024 * 1024, killSignal: 'SIGKILL' } as const;
    const child = execFile(exec.command, exec.args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(pluginFailed(exec, error, stderr));
    });
    child.stdin?.end();
  });
  return readCredential(exec, output);
}

function execInfo({ exec, server, ca, tlsServerName, insecureSkipTlsVerify, proxyUrl }: ExecConfig): object {
  const cluster = {
    server,
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
  };
  const spec = { interactive: false, ...(exec.provideClusterInfo ? { cluster } : {}) };
  return { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec };
}

/** `stdout` may hold a credential and is never quoted; the first line of `stderr` tells people what to do. */
function pluginFailed(
  exec: ExecPlugin,
  error: Error & { code?: unknown; killed?: boolean },
  stderr: string,
): MusterError {
  if (error.code === 'ENOENT') {
    return failure(exec, 'is not installed', exec.installHint ?? 'Install the program that the kubeconfig names.');
  }
  if (error.killed) return failure(exec, 'did not answer in time', 'Run it by hand: it may be waiting for a login.');
  const line = redactTokens(stderr.trim().split('\n')[0] ?? '').slice(0, 200);
  return failure(exec, `failed${line === '' ? '' : `: ${line}`}`, 'Run it by hand and log in again if it asks to.');
}

function readCredential(exec: ExecPlugin, output: string): ExecCredential {
  let answer: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> } | null;
  try {
    answer = JSON.parse(output) as typeof answer;
  } catch {
    throw failure(exec, 'did not print JSON', 'It must print an ExecCredential.');
  }
  if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== exec.apiVersion) {
    throw failure(
      exec,
      `did not print an ExecCredential of ${exec.apiVersion}`,
      'Update the plugin or the kubeconfig.',
    );
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  const texts = [token, cert, key].map((value) => (typeof value === 'string' && value !== '' ? value : undefined));
  if (texts[0] === undefined && (texts[1] === undefined || texts[2] === undefined)) {
    throw failure(exec, 'printed no credential', 'It must give a token, or a certificate with its key.');
  }
  const expiresAt = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.NaN;
  return {
    ...(texts[0] === undefined ? {} : { token: texts[0] }),
    ...(texts[1] === undefined || texts[2] === undefined ? {} : { cert: texts[1], key: texts[2] }),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}

function failure(exec: ExecPlugin, what: string, hint: string): MusterError {
  return new MusterError('UNAUTHORIZED', `the credential plugin ${what}`, { where: exec.command, hint });
}
