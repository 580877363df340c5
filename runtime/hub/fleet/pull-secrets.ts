/** Global pull Secrets: named in the hub's configuration, kept in its system namespace, copied to each agent. */
import { labels, managedByMuster } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import type { HubContext } from './context.ts';
import { agentNamespaceOf } from './edge-agent.ts';

/** Names of what is copied for a Cluster: nothing when it names pull Secrets of its own, even an empty list of them. */
function copied(context: HubContext, cluster: Cluster): string[] {
  if (cluster.spec?.agentPullSecrets != null) return [];
  return (context.config.current.imagePullSecrets ?? []).map(({ name }) => name);
}

/** Versions of the Secrets, which move when one changes. No request. */
export function pullSecretVersions(context: HubContext, cluster: Cluster): string[] {
  return copied(context, cluster)
    .map((name) => context.secrets.get(`${context.systemNamespace}/${name}`)?.metadata.resourceVersion ?? '')
    .sort();
}

/** The copies. One that does not exist is left out with an Event: a pod starts without it where it is not needed. */
export async function pullSecrets(context: HubContext, cluster: Cluster, signal: AbortSignal): Promise<Secret[]> {
  const copies: Secret[] = [];
  for (const name of copied(context, cluster)) {
    const found = await context.client.find(Secrets, { namespace: context.systemNamespace, name }, { signal });
    if (found?.data === undefined) {
      const message = `Secret ${context.systemNamespace}/${name} of imagePullSecrets does not exist; the agent goes without`;
      context.events.event(cluster, 'Warning', 'PullSecretMissing', message);
      continue;
    }
    copies.push({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: agentNamespaceOf(cluster), name, labels: { [labels.managedBy]: managedByMuster } },
      ...(found.type ? { type: found.type } : {}),
      data: found.data,
    });
  }
  return copies;
}
