/** A connection to the hub, and what is said over it. */
import type { HubAddress } from '../../../api/fleet/hub-address.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type AgentContext, attempt } from './context.ts';
import type { AgentCredential } from './credential.ts';
import { sendHeartbeat } from './heartbeat.ts';

/** The hub as this cluster. Whoever holds it closes it. */
export interface Link {
  readonly hub: KubeClient;
  readonly credential: AgentCredential;
  /** The hub was not reached this way. */
  readonly broken?: boolean;
}

export function openLink(context: AgentContext, credential: AgentCredential): Link {
  return { hub: context.connect(credential.config), credential };
}

/** Returns where the hub is from now on, when it says so. */
export async function heartbeat(
  context: AgentContext,
  link: Link,
  signal: AbortSignal,
): Promise<HubAddress | undefined> {
  const { clusterNamespace, clusterName } = link.credential;
  const cluster = { namespace: clusterNamespace, name: clusterName };
  const facts = await context.facts(signal);
  const address = await attempt(link.hub, 'heartbeat', () =>
    sendHeartbeat(link.hub, { cluster, agentNamespace: context.namespace, facts }, { signal }),
  );
  context.news.told(address);
  return address;
}
