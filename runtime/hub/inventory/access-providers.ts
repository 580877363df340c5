/**
 * How others connect to a cluster: address and certificates of its API server, and a plugin that finds the credential in
 * a Secret. The credential itself never stands in a profile, and a plugin is only named when the Secret that it would
 * read is there and holds what it reads (cluster-inventory-api: plugins secretreader and kubeconfig-secretreader).
 */
import { secretKeys, secretTypes } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { accessProviders, execExtension } from '../../../api/multicluster/constants.ts';
import type { AccessProvider } from '../../../api/multicluster/kinds.ts';
import { annotations as marks } from '../../../api/muster/constants.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import { parseKubeconfig } from '../../kube/kubeconfig.ts';
import { readDocument } from '../../kube/kubeconfig-reader.ts';
import { kubeconfigKey } from '../fleet/caches.ts';
import type { HubContext } from '../fleet/context.ts';
import { isAllowedNamespace } from '../fleet/edge-kubeconfig.ts';
import { endpointKubeconfig, markedReference, sourceMarks } from '../fleet/source-marks.ts';

export interface AccessReader {
  /** Reads each Secret once for each of its versions. */
  read(cluster: Cluster, signal: AbortSignal): Promise<readonly AccessProvider[]>;
  forget(key: string): void;
}

export function createAccessReader(context: Pick<HubContext, 'client' | 'secrets' | 'systemNamespace'>): AccessReader {
  const known = new Map<string, { version: string; providers: readonly AccessProvider[] }>();

  const find = async (key: string, signal: AbortSignal): Promise<Secret | undefined> => {
    const { namespace = '', name } = parseKey(key);
    try {
      return await context.client.find(Secrets, { namespace, name }, { signal });
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw error;
    }
  };

  return {
    async read(cluster, signal) {
      const key = keyOf(cluster);
      const kubeconfig = kubeconfigKey(cluster);
      if (kubeconfig === undefined) return [];
      const { namespace = '' } = parseKey(kubeconfig);
      const allowed = isAllowedNamespace(namespace, cluster, context.systemNamespace);
      if (markedReference(cluster) === undefined && !allowed) return [];
      // at the hub's start nothing is known of Secrets yet, and a profile must not change because of that
      const open = [namespace, cluster.metadata.namespace ?? ''].map((name) => context.secrets.whenOpen(name, signal));
      await Promise.all(open);
      const [config, token] = [context.secrets.get(kubeconfig), context.secrets.get(key)];
      if (config === undefined) return [];
      const versions = [config, token].map((secret) => secret?.metadata.resourceVersion);
      const version = [kubeconfig, ...versions, ...sourceMarks(cluster)].join(' ');
      const before = known.get(key);
      if (before?.version === version) return before.providers;
      const [found, tokens] = await Promise.all([
        find(kubeconfig, signal),
        token === undefined ? undefined : find(key, signal),
      ]);
      const providers = providersOf({ cluster, kubeconfig: found, token: tokens });
      known.set(key, { version, providers });
      return providers;
    },
    forget: (key) => void known.delete(key),
  };
}

/** Pure. `token` is the Secret of the Cluster's own name. */
export function providersOf(access: {
  readonly cluster: Cluster;
  readonly kubeconfig: Secret | undefined;
  readonly token: Secret | undefined;
}): AccessProvider[] {
  const { cluster, kubeconfig, token } = access;
  // of a Cluster that a rule made, the rule has noted what its Secret holds
  const { key = secretKeys.kubeconfig, context } = markedReference(cluster) ?? {};
  const endpointOnly = cluster.metadata.annotations?.[marks.endpoint];
  const text = textOf(kubeconfig, key);
  // the credential is in no text that is published, so any will do
  const whole = () => (endpointOnly === undefined ? text : endpointKubeconfig(endpointOnly, 'none'));
  const config = readConfig(whole, context);
  if (kubeconfig === undefined || config === undefined || !isPublic(config)) return [];
  const { name = '', namespace = '' } = kubeconfig.metadata;
  const provider = (plugin: string, extension: Record<string, string>): AccessProvider => ({
    name: plugin,
    cluster: { ...endpoint(config), extensions: [{ name: execExtension, extension }] },
  });
  return [
    ...(endpointOnly === undefined && isReadable(config, text)
      ? [provider(accessProviders.kubeconfig, { name, namespace, key, ...(context === undefined ? {} : { context }) })]
      : []),
    ...(isTokenSecret(token) ? [provider(accessProviders.token, { clusterName: cluster.metadata.name ?? '' })] : []),
  ];
}

function textOf(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
}

/** What the hub does not take itself it does not recommend to others. */
function readConfig(text: () => string, context: string | undefined): ClientConfig | undefined {
  try {
    return parseKubeconfig(text(), { policy: 'hub', ...(context === undefined ? {} : { context }) });
  } catch {
    return undefined;
  }
}

/** The address of a proxy may hold a password. */
function isPublic({ proxyUrl }: ClientConfig): boolean {
  return proxyUrl === undefined || (new URL(proxyUrl).username === '' && new URL(proxyUrl).password === '');
}

/** The plugin takes tokens and certificates, and no kubeconfig with extensions. */
function isReadable(config: ClientConfig, text: string): boolean {
  const { extensions } = readDocument(text).values;
  if (Array.isArray(extensions) && extensions.length > 0) return false;
  return config.token !== undefined || (config.cert !== undefined && config.key !== undefined);
}

/** A token of an account of the hub would be sent to the wrong cluster. */
function isTokenSecret(secret: Secret | undefined): boolean {
  return (secret?.type ?? '') === secretTypes.opaque && Boolean(secret?.data?.[secretKeys.token]);
}

function endpoint({ server, ca, tlsServerName, proxyUrl }: ClientConfig): NonNullable<AccessProvider['cluster']> {
  return {
    server,
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
  };
}
