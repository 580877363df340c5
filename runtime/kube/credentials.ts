/** Who we are to a cluster, asked again for each request: token files and plugins change their answer over time. */
import { readFile } from 'node:fs/promises';
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig } from './client-config.ts';
import { execCredential, forgetExecCredential } from './exec-plugin.ts';

/** One request's credential. */
export interface Credential {
  /** Value of the Authorization header. */
  readonly authorization?: string;
  /** PEM client certificate and key of the connection. */
  readonly cert?: string;
  readonly key?: string;
}

export interface Credentials {
  current(): Promise<Credential>;
  /** Call after a 401. True when asking again may give another credential. */
  refused(): boolean;
}

export function createCredentials(config: ClientConfig): Credentials {
  const certificate =
    config.cert === undefined || config.key === undefined ? {} : { cert: config.cert, key: config.key };
  if (config.exec !== undefined) return fromExec({ ...config, exec: config.exec }, certificate);
  if (config.tokenFile !== undefined) return fromTokenFile(config.tokenFile, certificate);
  return constant({ ...certificate, ...fixedHeader(config) });
}

function fixedHeader({ token, username, password }: ClientConfig): Credential {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (username === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

function constant(credential: Credential): Credentials {
  return { current: () => Promise.resolve(credential), refused: () => false };
}

function fromTokenFile(path: string, certificate: Credential): Credentials {
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<void> => {
    try {
      const next = (await readFile(path, 'utf8')).trim();
      if (next === '') throw new Error('empty');
      token = next;
      readAt = performance.now();
    } catch (error) {
      // The old token may live on while the kubelet swaps the file.
      if (token !== '') return;
      const code = (error as NodeJS.ErrnoException).code ?? 'empty';
      throw new MusterError('UNAUTHORIZED', `the token file cannot be used (${code})`, {
        where: path,
        hint: 'Check the ServiceAccount token mount or the kubeconfig.',
        retryable: true,
      });
    }
  };
  return {
    async current() {
      if (performance.now() - readAt >= durations.tokenFileReload) await read();
      return { ...certificate, authorization: `Bearer ${token}` };
    },
    refused() {
      const stale = readAt !== Number.NEGATIVE_INFINITY;
      readAt = Number.NEGATIVE_INFINITY;
      return stale;
    },
  };
}

function fromExec(config: ClientConfig & Required<Pick<ClientConfig, 'exec'>>, certificate: Credential): Credentials {
  return {
    async current() {
      const { token, cert, key } = await execCredential(config);
      return {
        ...certificate,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(cert === undefined || key === undefined ? {} : { cert, key }),
      };
    },
    refused() {
      forgetExecCredential(config);
      return true;
    },
  };
}
