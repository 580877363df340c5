/** Waiting until a Cluster is ready, telling the stages as they pass. */
import { MusterError } from '../../api/errors.ts';
import { Clusters } from '../../api/fleet/kinds.ts';
import type { Cluster } from '../../api/fleet/kinds.ts';
import type { ObjectKey } from '../../api/resource.ts';
import { keyOf } from '../../api/resource.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitObject } from '../await-object.ts';
import type { CallContext } from '../handler.ts';
import { isHopeless, isReady, stuckStage, whyNotReady } from '../ready.ts';

/**
 * Resolves when the Cluster is ready.
 * @throws MusterError TIMEOUT naming the stage that is stuck and its reason; NOT_FOUND when the Cluster is deleted
 *   meanwhile; INVALID_ARGUMENT at once for a reason that only the user can change.
 */
export async function awaitCluster(
  client: KubeClient,
  key: ObjectKey,
  { signal, report }: Pick<CallContext, 'signal' | 'report'>,
  onChange: (cluster: Cluster) => void = () => undefined,
): Promise<Cluster> {
  const where = `Cluster ${keyOf({ namespace: key.namespace ?? '', name: key.name })}`;
  let last: Cluster | undefined;
  let told = '';
  const watched = (cluster: Cluster | undefined): void => {
    last = cluster;
    if (cluster === undefined) return;
    onChange(cluster);
    const stage = isReady(cluster) ? 'ready' : `waiting for ${stuckStage(cluster)?.type ?? 'the agent'}`;
    if (stage !== told) report(`${where}: ${stage}`);
    told = stage;
  };
  const settled = (cluster: Cluster | undefined): boolean =>
    cluster === undefined || isReady(cluster) || isHopeless(cluster);
  try {
    const cluster = await awaitObject(client, Clusters, key, settled, { signal, onChange: watched });
    if (cluster !== undefined && isReady(cluster)) return cluster;
    const code = cluster === undefined ? 'NOT_FOUND' : 'INVALID_ARGUMENT';
    throw new MusterError(code, whyNotReady(cluster), { where });
  } catch (error) {
    if (!signal.aborted) throw error;
    const reason = signal.reason as MusterError;
    const hint = reason.hint === undefined ? {} : { hint: reason.hint };
    throw new MusterError('TIMEOUT', `${reason.message}; stuck at: ${whyNotReady(last)}.`, { where, ...hint });
  }
}
