/** Reading what pods refer to: ConfigMaps, Secrets, their own fields. */
import { ConfigMaps, Secrets } from '../../../api/kubernetes/core.ts';
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { PodConfigError } from './config-error.ts';
import { specOf } from './pod-spec.ts';

/** Contents by key. */
export type Contents = ReadonlyMap<string, Buffer>;

/** A ConfigMap's or Secret's contents; undefined when it does not exist. */
export async function contentsOf(
  client: KubeClient,
  kind: 'ConfigMap' | 'Secret',
  namespace: string,
  name: string,
): Promise<Contents | undefined> {
  const contents = new Map<string, Buffer>();
  if (kind === 'ConfigMap') {
    const found = await client.find(ConfigMaps, { namespace, name });
    if (found === undefined) return undefined;
    for (const [key, text] of Object.entries(found.data ?? {})) contents.set(key, Buffer.from(text));
    for (const [key, text] of Object.entries(found.binaryData ?? {})) contents.set(key, Buffer.from(text, 'base64'));
    return contents;
  }
  const found = await client.find(Secrets, { namespace, name });
  if (found === undefined) return undefined;
  for (const [key, text] of Object.entries(found.data ?? {})) contents.set(key, Buffer.from(text, 'base64'));
  return contents;
}

/** As {@link contentsOf}, for something that must exist unless it is optional. */
export async function requireContents(
  client: KubeClient,
  kind: 'ConfigMap' | 'Secret',
  namespace: string,
  ref: { readonly name: string; readonly optional?: boolean },
): Promise<Contents> {
  const contents = await contentsOf(client, kind, namespace, ref.name);
  if (contents !== undefined || ref.optional === true) return contents ?? new Map<string, Buffer>();
  throw new PodConfigError('CreateContainerConfigError', `${kind.toLowerCase()} "${ref.name}" not found`);
}

/** A field of the pod by the paths that the downward API knows (Kubernetes: Downward API). */
export function fieldOf(pod: Pod, address: string, path: string): string {
  const spec = specOf(pod);
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed) return pod.metadata[keyed[1] as 'labels' | 'annotations']?.[keyed[2] ?? ''] ?? '';
  const fields: Record<string, string | undefined> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'metadata.uid': pod.metadata.uid,
    'metadata.labels': listed(pod.metadata.labels),
    'metadata.annotations': listed(pod.metadata.annotations),
    'spec.nodeName': spec.nodeName,
    'spec.serviceAccountName': spec.serviceAccountName,
    'status.podIP': address,
    'status.podIPs': address,
    'status.hostIP': address,
    'status.hostIPs': address,
  };
  const value = fields[path];
  if (value === undefined) throw new PodConfigError('CreateContainerConfigError', `no such field: ${path}`);
  return value;
}

function listed(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}
