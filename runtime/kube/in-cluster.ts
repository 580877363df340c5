/** The identity that a pod is given. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '../../api/errors.ts';
import type { ClientConfig } from './client-config.ts';

/** Where the kubelet mounts a pod's ServiceAccount (Kubernetes: accessing the API from a pod). */
const serviceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Directory of the mounted token, CA and namespace; the environment may name another one. */
function directory(env: NodeJS.ProcessEnv): string {
  return env['MUSTER_SERVICE_ACCOUNT_DIR'] ?? serviceAccountDir;
}

/** Whether this process has a pod's identity. */
export function isInCluster(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['KUBERNETES_SERVICE_HOST'] !== undefined && existsSync(join(directory(env), 'token'));
}

/**
 * The pod's own API server and ServiceAccount. The token is read again as the kubelet rotates it.
 * MUSTER_SERVICE_ACCOUNT_DIR names another directory than the usual mount.
 * Throws MusterError INVALID_KUBECONFIG when this is no pod.
 */
export function inClusterConfig(env: NodeJS.ProcessEnv = process.env): ClientConfig {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  const dir = directory(env);
  if (host === undefined || host === '') throw notInPod('KUBERNETES_SERVICE_HOST is not set');
  const tokenFile = join(dir, 'token');
  if (!existsSync(tokenFile)) throw notInPod(`${tokenFile} is not there`);
  const ca = optionalFile(join(dir, 'ca.crt'));
  const namespace = optionalFile(join(dir, 'namespace'))?.trim();
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tokenFile,
    ...(ca === undefined ? {} : { ca }),
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    contextName: 'in-cluster',
  };
}

function optionalFile(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function notInPod(reason: string): MusterError {
  return new MusterError('INVALID_KUBECONFIG', `no in-cluster configuration: ${reason}`, {
    hint: 'Outside a pod, name a kubeconfig with --kubeconfig or KUBECONFIG.',
  });
}
