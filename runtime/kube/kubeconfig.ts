/** Head only; the body follows. */
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig } from './client-config.ts';

/** Options of {@link parseKubeconfig}. */
export interface KubeconfigOptions {
  /**
   * `hub`: the text comes from someone else. Exec and auth-provider plugins, file paths, token files and
   * insecure-skip-tls-verify are refused (KUBECONFIG_REFUSED). `user`: the text is the caller's own.
   */
  readonly policy: 'hub' | 'user';
  /** Directory that relative file names start from. Default: the working directory. Policy `user` only. */
  readonly baseDir?: string;
  /** Context to use instead of `current-context`. */
  readonly context?: string;
  /** Lets policy `hub` accept insecure-skip-tls-verify. Default: false. */
  readonly allowInsecure?: boolean;
}

export function parseKubeconfig(_text: string | Buffer, _options: KubeconfigOptions): ClientConfig {
  throw new MusterError('INTERNAL', 'parseKubeconfig is being written');
}

/** Reads `path`, else the first file of KUBECONFIG, else `~/.kube/config`, under policy `user`. */
export function loadKubeconfigFile(_path?: string, _options: { context?: string } = {}): ClientConfig {
  throw new MusterError('INTERNAL', 'loadKubeconfigFile is being written');
}

/** A kubeconfig text with one cluster, one user with a token and one context. */
export function formatKubeconfig(_config: {
  server: string;
  ca?: string;
  token: string;
  namespace?: string;
  contextName?: string;
}): string {
  throw new MusterError('INTERNAL', 'formatKubeconfig is being written');
}
