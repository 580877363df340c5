/** The agent's configuration: ConfigMap `fleet-agent` at the edge, key `config`, JSON; the whole of it is optional. */
import type { ReadConfig, Readers } from './config-reader.ts';
import { formatConfig, readConfig, readDuration, readText, readTextMap } from './config-reader.ts';

/** Field names are those of the wire. */
export interface AgentConfig {
  /** Labels that the agent asks for when it registers. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Identity of the cluster. Default: UID of the namespace kube-system. */
  readonly clientID?: string;
  /** `system-store` (default) or `strict`; any other value counts as strict. */
  readonly agentTLSMode?: string;
  /** Go duration. Default: 15m. */
  readonly garbageCollectionInterval?: string;
}

const fields: Readers = {
  labels: readTextMap,
  clientID: readText,
  agentTLSMode: readText,
  garbageCollectionInterval: readDuration,
};

/** Names of all fields, in the order in which they are written. */
export const agentConfigFields: readonly string[] = Object.keys(fields);

/**
 * Reads the configuration; fields that cannot be used are left out with a warning each.
 * @throws MusterError INVALID_ARGUMENT when it is not a JSON object
 */
export function parseAgentConfig(json: string | undefined): ReadConfig<AgentConfig> {
  return readConfig<AgentConfig>(json, fields, 'ConfigMap fleet-agent');
}

/** The JSON of the ConfigMap; equal configurations are equal texts. */
export function formatAgentConfig(config: AgentConfig): string {
  return formatConfig(config, fields);
}
