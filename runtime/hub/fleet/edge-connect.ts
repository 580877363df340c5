/** A client of a downstream cluster, with the trust that agentTLSMode asks for (Fleet: import, removal of the CA). */
import { reasons } from '../../../api/conditions.ts';
import { defaults } from '../../../api/fleet/constants.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import type { KubeClient } from '../../kube/client.ts';
import { systemRoots } from '../../kube/system-roots.ts';
import type { EdgeClients } from './edge-clients.ts';
import { ImportFault } from './edge-kubeconfig.ts';
import type { EdgeFacts } from './edge-probe.ts';
import { probeEdge } from './edge-probe.ts';

export interface ConnectedEdge {
  readonly client: KubeClient;
  readonly facts: EdgeFacts;
  /** As it was trusted: without a CA where the system's certificates vouch for the server. */
  readonly config: ClientConfig;
}

/**
 * Connects and takes the first look. `strict`: the kubeconfig's CA and nothing else. `system-store` (default): the CA
 * too, and where it does not vouch for the server but the system does, the CA is dropped; Fleet asks the system first,
 * which gives the same answer and costs a request each time. Throws ImportFault.
 */
export async function connectEdge(
  edges: EdgeClients,
  config: ClientConfig,
  mode: string | undefined,
  signal: AbortSignal,
): Promise<ConnectedEdge> {
  const strict = (mode || defaults.agentTLSMode) === 'strict';
  if (strict && config.ca === undefined) {
    const message = `agentTLSMode strict trusts only the CA of the kubeconfig, and that of ${config.server} has none`;
    throw new ImportFault(reasons.clusterUntrusted, message, true);
  }
  const look = async (ca: string): Promise<ConnectedEdge> => {
    const client = edges.get({ ...config, ca });
    const facts = await probeEdge(client, signal);
    if (ca === config.ca) return { client, facts, config };
    const { ca: _, ...rest } = config;
    return { client, facts, config: rest };
  };
  if (config.ca === undefined) return await look(systemRoots());
  try {
    return await look(config.ca);
  } catch (error) {
    const untrusted = error instanceof ImportFault && error.reason === reasons.clusterUntrusted;
    if (strict || !untrusted) throw error;
    try {
      return await look(systemRoots());
    } catch (other) {
      // what is wrong with the CA that was given says more than that the system does not know the server either
      throw other instanceof ImportFault && other.reason === reasons.clusterUntrusted ? error : other;
    }
  }
}
