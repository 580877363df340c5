/** The kubeconfig of a Cluster: where it may be, what it may say. */
import { reasons } from '../../../api/conditions.ts';
import { isMusterError } from '../../../api/errors.ts';
import { defaults, secretKeys } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { registrationNamespace } from '../../../api/fleet/names.ts';
import { annotations as marks, labels as marked } from '../../../api/muster/constants.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { parseKey } from '../../../api/resource.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import { workspaceLabel } from '../../../components/fleet/names.ts';
import { parseKubeconfig } from '../../kube/kubeconfig.ts';
import { kubeconfigKey } from './caches.ts';
import type { HubContext } from './context.ts';
import { endpointKubeconfig, markedReference } from './source-marks.ts';

/** A stage of an import that cannot go on, in words for the user. */
export class ImportFault extends Error {
  readonly reason: string;
  /** Only a change can help, and a change is an event: no use trying again before. */
  readonly final: boolean;

  constructor(reason: string, message: string, final: boolean) {
    super(message);
    this.name = 'ImportFault';
    this.reason = reason;
    this.final = final;
  }
}

export interface EdgeAccess {
  readonly config: ClientConfig;
  /** Address of the hub for this one cluster; the hub's own configuration when absent (Fleet: keys of the Secret). */
  readonly apiServerURL?: string;
  /** PEM. */
  readonly apiServerCA?: string;
}

/** Namespaces that a Cluster may take a kubeconfig from (Fleet: allow list of kubeConfigSecretNamespace). */
export function isAllowedNamespace(namespace: string, cluster: Cluster, systemNamespace: string): boolean {
  const systems = [systemNamespace, defaults.systemNamespace, defaults.legacySystemNamespace];
  const allowed = [
    cluster.metadata.namespace ?? '',
    defaults.localNamespace,
    defaults.defaultNamespace,
    ...systems,
    ...systems.map(registrationNamespace),
  ];
  return allowed.includes(namespace) || namespace.startsWith('cluster-');
}

/** Reads and checks the kubeconfig. Throws ImportFault. */
export async function readKubeconfig(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<EdgeAccess> {
  const key = kubeconfigKey(cluster) ?? '';
  const { namespace = '', name } = parseKey(key);
  const reference = markedReference(cluster);
  if (reference === undefined && !isAllowedNamespace(namespace, cluster, context.systemNamespace)) {
    const message = `a kubeconfig may not be taken from namespace ${namespace}; put the Secret into the Cluster's own namespace`;
    throw new ImportFault(reasons.kubeconfigNamespaceRefused, message, true);
  }
  const secret = context.secrets.isOpen(namespace) && context.secrets.get(key) === undefined ? undefined : await find();
  if (secret === undefined) {
    throw new ImportFault(
      reasons.kubeconfigSecretMissing,
      `Secret ${key} with the kubeconfig does not exist`,
      context.secrets.isOpen(namespace),
    );
  }
  const text = (entry: string): string | undefined => {
    const encoded = secret.data?.[entry];
    return encoded ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
  };
  const entry = reference?.key ?? secretKeys.kubeconfig;
  const content = text(entry);
  if (content === undefined) {
    throw new ImportFault(reasons.kubeconfigInvalid, `Secret ${key} has no key "${entry}"`, true);
  }
  const endpoint = reference && cluster.metadata.annotations?.[marks.endpoint];
  const apiServerURL = text(secretKeys.apiServerURL);
  const apiServerCA = text(secretKeys.apiServerCA);
  return {
    config: parse(
      endpoint === undefined ? content : endpointKubeconfig(endpoint, content.trim()),
      key,
      reference?.context,
    ),
    ...(apiServerURL === undefined ? {} : { apiServerURL }),
    ...(apiServerCA === undefined ? {} : { apiServerCA }),
  };

  async function find() {
    try {
      return await context.client.find(Secrets, { namespace, name }, { signal });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const label = reference === undefined ? workspaceLabel : marked.source;
      const message = `the hub may not read Secrets in namespace ${namespace}; label it ${label}=true to open it`;
      throw new ImportFault(reasons.kubeconfigSecretMissing, message, false);
    }
  }
}

function parse(text: string, key: string, context: string | undefined): ClientConfig {
  try {
    return parseKubeconfig(text, { policy: 'hub', ...(context === undefined ? {} : { context }) });
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const reason = error.code === 'KUBECONFIG_REFUSED' ? reasons.kubeconfigRefused : reasons.kubeconfigInvalid;
    throw new ImportFault(reason, `Secret ${key}: ${error.describe()}`, true);
  }
}
