/** Where an import goes: a cluster behind a kubeconfig, or the hub's own; and what is refused at its door. */
import { reasons } from '../../../api/conditions.ts';
import { defaults } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { isForbidden } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { HubContext } from './context.ts';
import type { HubAddress } from './edge-agent.ts';
import { agentNamespaceOf, hubAddress } from './edge-agent.ts';
import type { EdgeClients } from './edge-clients.ts';
import { connectEdge } from './edge-connect.ts';
import { ImportFault, readKubeconfig } from './edge-kubeconfig.ts';
import { explainEdgeError } from './edge-probe.ts';
import { isLocal, isOwn } from './local-cluster.ts';
import type { Outside } from './slots.ts';

/** The cluster, how it is reached, and what its agent is told of the hub. */
export interface Target {
  readonly cluster: Cluster;
  readonly address: HubAddress;
  /** Where it is, so that a kubeconfig that leads elsewhere is a change. */
  readonly server: string;
  /** It is the hub's own, reached with the hub's own rights. */
  readonly own: boolean;
  /** Connects, and refuses what must not be imported. */
  connect(): Promise<KubeClient>;
}

/** `outside`: where it is waited for the cluster to answer. Throws ImportFault for a kubeconfig that cannot be used. */
export async function targetOf(
  context: HubContext,
  edges: EdgeClients,
  cluster: Cluster,
  outside: Outside,
  signal: AbortSignal,
): Promise<Target> {
  const config = context.config.current;
  if (isOwn(context, cluster)) {
    const connect = async (): Promise<KubeClient> => {
      refuseOwn(context, cluster, context.ownUid);
      return await Promise.resolve(context.client);
    };
    return { cluster, address: hubAddress(config, {}), server: 'own', own: true, connect };
  }
  const access = await readKubeconfig(context, cluster, signal);
  const connect = async (): Promise<KubeClient> => {
    const { client, facts } = await outside(() => connectEdge(edges, access.config, config.agentTLSMode, signal));
    refuseOwn(context, cluster, facts.uid);
    return client;
  };
  return { cluster, address: hubAddress(config, access), server: access.config.server, own: false, connect };
}

export function explainApplyError(error: unknown, { cluster, own }: Target, server: string): unknown {
  if (!own || !isForbidden(error)) return explainEdgeError(error, server);
  const message =
    `the hub may not install the agent of its own cluster in namespace ${agentNamespaceOf(cluster)}: ${error.message}; ` +
    'apply the manifests that are made for a hub with this bootstrap configuration';
  return new ImportFault(reasons.clusterForbidden, message, false);
}

/** Throws ImportFault for settings that no agent can be installed with. */
export function checkSettings(context: HubContext, cluster: Cluster): void {
  const namespace = agentNamespaceOf(cluster);
  if (namespace.startsWith('kube-')) {
    throw new ImportFault(reasons.invalidSpec, `spec.agentNamespace: ${namespace} belongs to Kubernetes`, true);
  }
  const mode = context.config.current.agentTLSMode;
  if (mode && mode !== 'system-store' && mode !== 'strict') {
    const message = `agentTLSMode ${mode} in ConfigMap fleet-controller is neither system-store nor strict`;
    throw new ImportFault(reasons.invalidSpec, message, true);
  }
}

/** Refuses the hub's own cluster unless it is declared to be it, and the hub's namespace in it (fleet#5620). */
function refuseOwn(context: HubContext, cluster: Cluster, uid: string): void {
  if (uid !== context.ownUid) return;
  if (!isLocal(context, cluster)) {
    const message = `the kubeconfig leads to the hub's own cluster; only Cluster ${defaults.localNamespace}/local may`;
    throw new ImportFault(reasons.selfRegistration, message, true);
  }
  const namespace = agentNamespaceOf(cluster);
  if (namespace === context.systemNamespace || namespace === context.registrationNamespace) {
    const message = `spec.agentNamespace: ${namespace} is the hub's own; its agent needs another one`;
    throw new ImportFault(reasons.invalidSpec, message, true);
  }
}
