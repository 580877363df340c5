/** Removing the agent from the cluster that it was installed in, as part of deleting a Cluster. Never for ever. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { keyOf } from '../../../api/resource.ts';
import { synthAgent } from '../../../components/fleet/fleet-agent.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { DetachProgress } from '../../registration/detach.ts';
import { done } from '../../registration/detach.ts';
import type { HubContext } from './context.ts';
import { agentNamespaceOf } from './edge-agent.ts';
import { removeAgent } from './edge-apply.ts';
import type { EdgeClients } from './edge-clients.ts';
import { connectEdge } from './edge-connect.ts';
import { ImportFault, readKubeconfig } from './edge-kubeconfig.ts';
import { leftNamespaces } from './edge-move.ts';
import { explainEdgeError } from './edge-probe.ts';
import { createEdgeRetries } from './edge-retries.ts';
import { isImported, isLocal, isOwn } from './local-cluster.ts';

/** On a Cluster, value `true`: delete it without removing the agent downstream. */
export const skipEdgeAnnotation = 'muster.dev/skip-edge-cleanup';

/** One that takes something away from a cluster when its Cluster ends. */
export interface EdgeCleaner {
  /** Name of the step. */
  readonly name: string;
  clean(cluster: Cluster, signal: AbortSignal): Promise<DetachProgress>;
}

export function createEdgeCleaner(context: HubContext, edges: EdgeClients, lifetime: AbortSignal): EdgeCleaner {
  const retries = createEdgeRetries();
  const finished = new Set<string>();
  /** Clusters whose agent is gone, with the namespace downstream that is on its way. */
  const watched = new Map<string, string>();

  async function attempt(cluster: Cluster, signal: AbortSignal): Promise<KubeObject | undefined> {
    const own = isOwn(context, cluster);
    const { client, uid } = own ? { client: context.client, uid: context.ownUid } : await connect(cluster, signal);
    try {
      // never take an agent away from the hub because of a kubeconfig that leads there
      if (uid === context.ownUid && !isLocal(context, cluster)) return undefined;
      let leaving: KubeObject | undefined;
      for (const name of [...leftNamespaces(cluster), agentNamespaceOf(cluster)]) {
        if (uid === context.ownUid && name === context.systemNamespace) continue;
        const manifests = synthAgent({ namespace: name, image: 'none' });
        leaving = (await removeAgent(client, manifests, { own }, signal)) ?? leaving;
      }
      if (leaving !== undefined) watchGone(client, leaving, keyOf(cluster));
      return leaving;
    } catch (error) {
      throw explainEdgeError(error, client.server);
    }
  }

  async function connect(cluster: Cluster, signal: AbortSignal): Promise<{ client: KubeClient; uid: string }> {
    const { config } = await readKubeconfig(context, cluster, signal);
    const { client, facts } = await connectEdge(edges, config, context.config.current.agentTLSMode, signal);
    return { client, uid: facts.uid };
  }

  /** Tells the Cluster's reconcile when the namespace downstream is gone. */
  function watchGone(client: KubeClient, namespace: KubeObject, key: string): void {
    if (watched.has(key)) return;
    const signal = AbortSignal.any([lifetime, AbortSignal.timeout(durations.edgeDetachDeadline)]);
    const { name = '', resourceVersion = '' } = namespace.metadata;
    watched.set(key, name);
    const run = async (): Promise<void> => {
      const events = client.watch(Namespaces, { fieldSelector: `metadata.name=${name}`, resourceVersion, signal });
      for await (const event of events) if (event.type === 'DELETED') break;
    };
    void run()
      .catch(() => undefined) // the next look of the reconcile finds out
      .finally(() => {
        watched.delete(key);
        context.enqueueCluster(key);
      });
  }

  function finish(key: string): DetachProgress {
    retries.ended(key);
    // the steps after this one may take several looks; the edge is not asked again for them
    finished.add(key);
    return done;
  }

  return {
    name: 'agent',
    async clean(cluster, signal) {
      const key = `${keyOf(cluster)}/${cluster.metadata.uid ?? ''}`;
      if (!isImported(context, cluster) || finished.has(key)) return done;
      if (cluster.metadata.annotations?.[skipEdgeAnnotation] === 'true') return finish(key);
      const leaving = watched.get(keyOf(cluster));
      if (leaving !== undefined) return goingDown(leaving);
      try {
        const namespace = await attempt(cluster, signal);
        if (namespace === undefined) return finish(key);
        return isOverdue(cluster)
          ? giveUp(cluster, key, `namespace ${namespace.metadata.name ?? ''} downstream is still being deleted`)
          : goingDown(namespace.metadata.name ?? '');
      } catch (error) {
        if (!(error instanceof ImportFault)) throw error;
        return failed(cluster, key, error);
      }
    },
  };

  function failed(cluster: Cluster, key: string, fault: ImportFault): DetachProgress {
    if (cluster.status?.agentDeployedGeneration == null) return finish(key); // nothing is known to be there
    if (fault.final || isOverdue(cluster)) return giveUp(cluster, key, fault.message);
    const message =
      `the agent cannot be removed downstream: ${fault.message} The Cluster goes without that after ` +
      `${durations.edgeDetachDeadline / 1000} s, or at once with annotation ${skipEdgeAnnotation}=true`;
    return { ...waiting(message, reasons.edgeNotCleaned), againMs: retries.failed(key) };
  }

  function giveUp(cluster: Cluster, key: string, message: string): DetachProgress {
    context.events.event(cluster, 'Warning', reasons.edgeNotCleaned, `the agent was left downstream: ${message}`);
    return finish(key);
  }
}

/** The end of a Cluster has waited long enough for its edge. */
export function isOverdue(cluster: Cluster): boolean {
  return Date.now() - Date.parse(cluster.metadata.deletionTimestamp ?? '') > durations.edgeDetachDeadline;
}

/** The agent is gone; the rest of the detachment need not wait for its namespace. */
function goingDown(namespace: string): DetachProgress {
  return { ...waiting(`waiting until namespace ${namespace} downstream is gone`, reasons.deleting), blocks: false };
}

function waiting(message: string, reason: string): Extract<DetachProgress, { state: 'waiting' }> {
  return { state: 'waiting', reason, message, againMs: durations.edgeDetachRetryLast };
}
