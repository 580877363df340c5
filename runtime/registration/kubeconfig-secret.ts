/** A kubeconfig with a bearer token in a Secret, as agents keep their credential: read it, or put another in its place. */
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import type { ClientConfig } from '../kube/client-config.ts';
import type { KubeClient, PatchOptions } from '../kube/client.ts';
import { formatKubeconfig, parseKubeconfig } from '../kube/kubeconfig.ts';

/** What such a kubeconfig says. */
export type TokenConfig = ClientConfig & { readonly token: string };

/** The kubeconfig under `key`; `undefined` when there is none with a token that can be used as it is. */
export function kubeconfigIn(secret: Secret | undefined, key: string): TokenConfig | undefined {
  const encoded = secret?.data?.[key];
  if (!encoded) return undefined;
  try {
    const config = parseKubeconfig(Buffer.from(encoded, 'base64'), { policy: 'hub' });
    return config.token === undefined ? undefined : { ...config, token: config.token };
  } catch {
    return undefined;
  }
}

/** Replaces the kubeconfig and nothing else. Throws a conflict when the Secret has changed since it was read. */
export async function replaceKubeconfig(
  client: KubeClient,
  secret: Secret,
  key: string,
  { server, ca, token, namespace = '', contextName }: TokenConfig,
  options: Omit<PatchOptions, 'type'>,
): Promise<void> {
  const text = formatKubeconfig({ server, ...(ca === undefined ? {} : { ca }), token, namespace, contextName });
  const { name = '', namespace: where = '', resourceVersion } = secret.metadata;
  const patch = { metadata: { resourceVersion }, data: { [key]: Buffer.from(text).toString('base64') } };
  await client.patch(Secrets, { namespace: where, name }, patch, { ...options, type: 'merge' });
}
