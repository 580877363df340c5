/** Waiting until a Deployment runs in its newest form. */
import { MusterError } from '../api/errors.ts';
import { Deployments } from '../api/kubernetes/workloads.ts';
import type { Deployment } from '../api/kubernetes/workloads.ts';
import type { ObjectKey } from '../api/resource.ts';
import { keyOf } from '../api/resource.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { isAvailable, whyNotAvailable } from '../runtime/kube/workload.ts';
import { awaitObject } from './await-object.ts';
import type { CallContext } from './handler.ts';

/** @throws MusterError TIMEOUT with what its pods say. */
export async function awaitDeployment(
  client: KubeClient,
  key: Required<ObjectKey>,
  { signal, report }: Pick<CallContext, 'signal' | 'report'>,
): Promise<void> {
  const where = `Deployment ${keyOf(key)}`;
  let last: Deployment | undefined;
  report(`${where}: waiting for its pods`);
  try {
    await awaitObject(client, Deployments, key, isAvailable, { signal, onChange: (object) => (last = object) });
  } catch (error) {
    if (!signal.aborted) throw error;
    const reason = signal.reason as MusterError;
    const why = last === undefined ? 'it does not exist' : await whyNotAvailable(client, last);
    const hint = reason.hint === undefined ? {} : { hint: reason.hint };
    throw new MusterError('TIMEOUT', `${reason.message}; stuck at: ${why}.`, { where, ...hint });
  }
}
