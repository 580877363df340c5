/** The hub's configuration: ConfigMap `fleet-controller`, key `config`, JSON (Fleet: internal/config). */
import type { ReadConfig, Readers } from './config-reader.ts';
import {
  formatConfig,
  readConfig,
  readDuration,
  readFlag,
  readReferences,
  readText,
  readTextMap,
} from './config-reader.ts';
import type { InventoryConfig } from './inventory-config.ts';
import { inventoryReaders } from './inventory-config.ts';

/** `system-store`: the agent drops the CA when the system trusts the hub anyway. `strict`: only the given CA counts. */
export type AgentTLSMode = 'system-store' | 'strict';

/** Field names are those of the wire; everything is optional. Durations are Go texts. */
export interface HubConfig {
  /** Registry that replaces the default one in image names. */
  readonly systemDefaultRegistry?: string;
  /** Image of the agent. */
  readonly agentImage?: string;
  readonly agentImagePullPolicy?: string;
  /** Address of the hub as agents see it: `https://…`. */
  readonly apiServerURL?: string;
  /** Certificates that sign it, PEM in base64; empty when the system trusts it. */
  readonly apiServerCA?: string;
  /** Default: 15m. */
  readonly agentCheckinInterval?: string;
  /** Default: system-store. Other values are passed on and refused where they are used. */
  readonly agentTLSMode?: string;
  /** Reconciles at a time, as text. Default: 50. */
  readonly agentWorkers?: { readonly bundledeployment?: string; readonly drift?: string };
  /** Default: 15m. */
  readonly garbageCollectionInterval?: string;
  /** Pull Secrets of the system namespace that agents get a copy of. */
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  /** Labels of requests are not put on Clusters. */
  readonly ignoreClusterRegistrationLabels?: boolean;
  /** false: agents are not kept up to date by bundles. */
  readonly manageAgent?: boolean;
  /** The hub's own registration with itself. */
  readonly bootstrap?: {
    readonly enabled?: boolean;
    readonly namespace?: string;
    readonly agentNamespace?: string;
    readonly localAgentDisabled?: boolean;
    readonly clusterLabels?: Readonly<Record<string, string>>;
    readonly repo?: string;
    readonly secret?: string;
    readonly branch?: string;
    readonly paths?: string;
  };
  /** true: tokens without ttl are refused. muster's own; the environment variable of Fleet does the same. */
  readonly registrationTokenTTLRequired?: boolean;
  /** Where registered clusters are published. muster's own. */
  readonly inventory?: InventoryConfig;
  readonly gitClientTimeout?: string;
  readonly webhookReceiverURL?: string;
  readonly githubURLPrefix?: string;
}

/** Workers come as texts from Fleet's chart and as numbers from people. */
const readCount = (value: unknown): unknown => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^[1-9][0-9]*$/.test(text) ? text : undefined;
};

const fields: Readers = {
  systemDefaultRegistry: readText,
  agentImage: readText,
  agentImagePullPolicy: readText,
  apiServerURL: readText,
  apiServerCA: readText,
  agentCheckinInterval: readDuration,
  agentTLSMode: readText,
  agentWorkers: { bundledeployment: readCount, drift: readCount },
  garbageCollectionInterval: readDuration,
  imagePullSecrets: readReferences,
  ignoreClusterRegistrationLabels: readFlag,
  manageAgent: readFlag,
  registrationTokenTTLRequired: readFlag,
  bootstrap: {
    enabled: readFlag,
    namespace: readText,
    agentNamespace: readText,
    localAgentDisabled: readFlag,
    clusterLabels: readTextMap,
    repo: readText,
    secret: readText,
    branch: readText,
    paths: readText,
  },
  inventory: inventoryReaders,
  gitClientTimeout: readDuration,
  webhookReceiverURL: readText,
  githubURLPrefix: readText,
};

/** Names of all fields, in the order in which they are written. */
export const hubConfigFields: readonly string[] = Object.keys(fields);

/**
 * Reads the configuration; fields that cannot be used are left out with a warning each.
 * @throws MusterError INVALID_ARGUMENT when it is not a JSON object
 */
export function parseHubConfig(json: string | undefined): ReadConfig<HubConfig> {
  return readConfig<HubConfig>(json, fields, 'ConfigMap fleet-controller');
}

/** The JSON of the ConfigMap: two spaces, the wire's field order, so that equal configurations are equal texts. */
export function formatHubConfig(config: HubConfig): string {
  return formatConfig(config, fields);
}
