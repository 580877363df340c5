/** The part of Argo CD in the end of a Cluster: Secret and account go while its edge can still be reached. Never for ever. */
import { reasons } from '../../../api/conditions.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { keyOf } from '../../../api/resource.ts';
import type { DetachProgress } from '../../registration/detach.ts';
import { done } from '../../registration/detach.ts';
import { kubeconfigKey } from '../fleet/caches.ts';
import type { EdgeCleaner } from '../fleet/edge-cleaner.ts';
import { isOverdue, skipEdgeAnnotation } from '../fleet/edge-cleaner.ts';
import { ImportFault } from '../fleet/edge-kubeconfig.ts';
import { createEdgeRetries } from '../fleet/edge-retries.ts';
import type { ArgoCDWork } from './argocd-controller.ts';
import { recordOf } from './argocd-record.ts';
import { clearArgoCD } from './argocd-report.ts';

export function createArgoCDCleaner({ hub, publisher, busy }: ArgoCDWork): EdgeCleaner {
  const retries = createEdgeRetries();

  async function failed(cluster: Cluster, fault: ImportFault, signal: AbortSignal): Promise<DetachProgress> {
    const key = keyOf(cluster);
    if (fault.final || isOverdue(cluster)) {
      const message = `a credential of Argo CD was left behind: ${fault.message}`;
      hub.events.event(cluster, 'Warning', reasons.edgeNotCleaned, message);
      retries.ended(key);
      // gone from the record: the next look has nothing to do
      await clearArgoCD(hub, key, signal);
      return done;
    }
    const message = `the credential of Argo CD cannot be taken back: ${fault.message}`;
    return {
      state: 'waiting',
      reason: reasons.edgeNotCleaned,
      message,
      blocks: false,
      againMs: retries.failed(key),
    };
  }

  return {
    name: 'Argo CD',
    async clean(cluster, signal) {
      // asked first: what is being published now is in no record yet
      if (busy.has(keyOf(cluster))) {
        const message = 'waiting until a credential of Argo CD is written, to take it back';
        return { state: 'waiting', reason: reasons.deleting, message, blocks: false };
      }
      const record = recordOf(cluster);
      if (record === undefined) return done;
      const skipEdge =
        kubeconfigKey(cluster) === undefined || cluster.metadata.annotations?.[skipEdgeAnnotation] === 'true';
      try {
        await publisher.withdraw(cluster, record, { skipEdge }, signal);
      } catch (error) {
        if (!(error instanceof ImportFault)) throw error;
        return await failed(cluster, error, signal);
      }
      retries.ended(keyOf(cluster));
      return done;
    },
  };
}
