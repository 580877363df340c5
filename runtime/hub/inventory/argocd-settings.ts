/** Whether a Cluster is to be published to Argo CD, and with what. Pure. */
import { createHash } from 'node:crypto';
import { parseGoDuration } from '../../../api/duration.ts';
import { durations } from '../../../api/durations.ts';
import { labels } from '../../../api/fleet/constants.ts';
import type { HubConfig } from '../../../api/fleet/hub-config.ts';
import type { ArgoCDConfig } from '../../../api/fleet/inventory-config.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { LabelSelector } from '../fleet/label-selector.ts';
import { selects } from '../fleet/label-selector.ts';
import { passedLabels } from './passed-labels.ts';

/** The configuration with its defaults. */
export interface ArgoCDSettings {
  readonly namespace: string;
  readonly namespaces?: readonly string[];
  readonly clusterRole: string;
  readonly project?: string;
  readonly ttlMs: number;
}

/** `suspended`: nothing is to be changed; `undefined`: nothing is to be there. */
export function settingsFor(config: HubConfig, cluster: Cluster): ArgoCDSettings | 'suspended' | undefined {
  const argoCD = config.inventory?.argoCD;
  if (argoCD?.suspend) return 'suspended';
  if (argoCD === undefined || labels.clusterManagement in (cluster.metadata.labels ?? {})) return undefined;
  const { selector } = argoCD;
  if (selector !== undefined && !selects(selector as LabelSelector, cluster.metadata.labels ?? {})) return undefined;
  return settingsOf(argoCD);
}

/**
 * `edit` in the whole cluster would be every right in it, as it reaches the Secrets and accounts of kube-system; so it is
 * the default only where namespaces are named.
 */
export function settingsOf({ namespace, namespaces, clusterRole, project, tokenTTL }: ArgoCDConfig): ArgoCDSettings {
  return {
    namespace,
    ...(namespaces === undefined ? {} : { namespaces: [...new Set(namespaces)].sort() }),
    clusterRole: clusterRole ?? (namespaces === undefined ? 'view' : 'edit'),
    ...(project === undefined ? {} : { project }),
    ttlMs: tokenTTL === undefined ? durations.argoCDToken : parseGoDuration(tokenTTL),
  };
}

/**
 * Digest of all that a Secret is made from, without reading a credential: `kubeconfig` tells where the Cluster's
 * kubeconfig is, and in which version.
 */
export function settingsRevision(
  settings: ArgoCDSettings,
  cluster: Cluster,
  { kubeconfig, tlsMode }: { readonly kubeconfig: readonly string[]; readonly tlsMode: string | undefined },
): string {
  const passed = Object.entries(passedLabels(cluster.metadata.labels)).sort(([a], [b]) => (a < b ? -1 : 1));
  const { namespace, namespaces, clusterRole, project, ttlMs } = settings;
  const parts = [
    [namespace, namespaces ?? null, clusterRole, project ?? null, ttlMs],
    [cluster.metadata.uid, cluster.spec?.redeployAgentGeneration ?? 0, passed],
    [kubeconfig, tlsMode ?? ''],
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}
