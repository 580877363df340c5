/** The agent of one Cluster: what it is installed with. Pure. */
import { createHash } from 'node:crypto';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { defaults as names } from '../../../api/fleet/constants.ts';
import type { HubAddress as Address } from '../../../api/fleet/hub-address.ts';
import type { HubConfig } from '../../../api/fleet/hub-config.ts';
import type { Cluster, ClusterStatus } from '../../../api/fleet/kinds.ts';
import { statusHash } from '../../../api/fleet/names.ts';
import { edgeConfigLabels } from '../../../api/labels.ts';
import { isFleetImage } from '../../../components/fleet/image.ts';
import type { AgentProps } from '../../../components/fleet/props.ts';
import type { EdgeAccess } from './edge-kubeconfig.ts';

/** What the agent is told of the hub: the Secret's own values first, then the hub's configuration. */
export type HubAddress = Pick<Address, 'url' | 'ca'>;

export function hubAddress(config: HubConfig, access: Pick<EdgeAccess, 'apiServerURL' | 'apiServerCA'>): HubAddress {
  return {
    url: access.apiServerURL ?? config.apiServerURL ?? '',
    ca: access.apiServerCA ?? Buffer.from(config.apiServerCA ?? '', 'base64').toString('utf8'),
  };
}

/** Namespace of the agent downstream. */
export function agentNamespaceOf(cluster: Cluster): string {
  return cluster.spec?.agentNamespace || names.agentNamespace;
}

/** Image that is used when the configuration names none. */
export const defaultAgentImage = 'localhost/muster:dev';

/** What the hub's own environment says of the agents that it installs. */
export interface AgentDefaults {
  /** Fleet: FLEET_AGENT_REPLICA_COUNT. Default: 1. */
  readonly replicas?: number;
  /** Leader election of agents, Go durations (Fleet: FLEET_AGENT_ELECTION_…). Default: see components/fleet/agent.ts. */
  readonly election?: {
    readonly leaseDuration?: string;
    readonly retryPeriod?: string;
    readonly renewDeadline?: string;
  };
}

/** Settings of the agent, without its credential. */
export function agentProps(cluster: Cluster, config: HubConfig, defaults: AgentDefaults = {}): AgentProps {
  const spec = cluster.spec ?? {};
  const image = config.agentImage || defaultAgentImage;
  const pullSecrets = spec.agentPullSecrets ?? config.imagePullSecrets;
  return {
    namespace: agentNamespaceOf(cluster),
    image,
    ...(isFleetImage(image) ? { program: 'fleet' as const } : {}),
    ...optional('imagePullPolicy', config.agentImagePullPolicy),
    ...optional('privateRepoURL', spec.privateRepoURL),
    ...optional('systemDefaultRegistry', config.systemDefaultRegistry),
    ...optional('agentScope', spec.agentNamespace),
    ...optional('checkinInterval', config.agentCheckinInterval),
    ...optional('agentTLSMode', config.agentTLSMode),
    ...optional('garbageCollectionInterval', config.garbageCollectionInterval),
    ...optional('workers', config.agentWorkers),
    ...optional('replicas', defaults.replicas),
    ...optional('envVars', environment(defaults, spec.agentEnvVars as AgentProps['envVars'] | null)),
    ...optional('tolerations', spec.agentTolerations as AgentProps['tolerations']),
    ...optional('affinity', spec.agentAffinity as AgentProps['affinity']),
    ...optional('resources', spec.agentResources as AgentProps['resources']),
    ...optional('schedulingCustomization', spec.agentSchedulingCustomization as AgentProps['schedulingCustomization']),
    ...optional('imagePullSecrets', pullSecrets as AgentProps['imagePullSecrets']),
    ...optional('hostNetwork', spec.hostNetwork ?? undefined),
    ...optional('clientID', spec.clientID),
    ...optional('redeployGeneration', spec.redeployAgentGeneration),
    labels: edgeConfigLabels(cluster.metadata.labels ?? {}),
  };
}

/** What a Cluster says of a variable goes before what the hub says of all. */
function environment({ election }: AgentDefaults, own: AgentProps['envVars'] | null): AgentProps['envVars'] {
  const all = {
    CATTLE_ELECTION_LEASE_DURATION: election?.leaseDuration,
    CATTLE_ELECTION_RETRY_PERIOD: election?.retryPeriod,
    CATTLE_ELECTION_RENEW_DEADLINE: election?.renewDeadline,
  };
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  return given.length === 0 ? (own ?? undefined) : [...given, ...(own ?? [])];
}

function optional<K extends keyof AgentProps>(key: K, value: AgentProps[K] | null): Pick<AgentProps, K> | object {
  return value === undefined || value === null || value === '' ? {} : { [key]: value };
}

/**
 * Digest of all that an import applies: a change of it is what makes the hub apply it again. The labels are not in it;
 * they count when a Cluster is made, and a label must not restart an agent. Lists whose order has no meaning count the
 * same in any order.
 */
export function settingsRevision(
  props: AgentProps,
  address: HubAddress,
  server: string,
  pullSecretVersions: readonly string[] = [],
): string {
  const { labels: _, ...settings } = props;
  const versions = pullSecretVersions.length === 0 ? [] : [pullSecretVersions];
  return createHash('sha256')
    .update(JSON.stringify([canonical(settings), address, server, ...versions]))
    .digest('hex')
    .slice(0, 12);
}

/** Keys in order; and elements, unless one refers to another by `$(NAME)`. Affinity: terms are sets, too. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(canonical);
    const texts = items.map((item) => JSON.stringify(item));
    return texts.some((text) => text.includes('$(')) ? items : texts.sort();
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, canonical(each)]));
}

/**
 * Fleet's record in status of what the agent was installed with; other tools look at it. As there, what is empty is left
 * out: each field costs the API server with every later write.
 */
export function installedStatus(cluster: Cluster, config: HubConfig, address: HubAddress): Partial<ClusterStatus> {
  const spec = cluster.spec ?? {};
  const hash = (value: unknown) => (value === undefined || value === null ? undefined : statusHash(value));
  return {
    agentDeployedGeneration: spec.redeployAgentGeneration ?? 0,
    agentMigrated: true,
    agentNamespaceMigrated: true,
    cattleNamespaceMigrated: true,
    agentConfigChanged: undefined,
    apiServerURL: address.url,
    apiServerCAHash: statusHash(Buffer.from(address.ca).toString('base64')),
    agentTLSMode: config.agentTLSMode || names.agentTLSMode,
    garbageCollectionInterval: config.garbageCollectionInterval || names.garbageCollectionInterval,
    agentEnvVarsHash: hash(spec.agentEnvVars),
    agentAffinityHash: hash(spec.agentAffinity),
    agentResourcesHash: hash(spec.agentResources),
    agentTolerationsHash: hash(spec.agentTolerations),
    agentSchedulingCustomizationHash: hash(spec.agentSchedulingCustomization),
    agentPrivateRepoURL: spec.privateRepoURL || undefined,
    agentHostNetwork: spec.hostNetwork || undefined,
  };
}

/** Bootstrap values of an import: those of the token, with the address that this Cluster's Secret may override. */
export function bootstrapFor(values: BootstrapValues, address: HubAddress, cluster: Cluster): BootstrapValues {
  return { ...values, apiServerURL: address.url, apiServerCA: address.ca, systemNamespace: agentNamespaceOf(cluster) };
}
