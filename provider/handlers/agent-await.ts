/** Waiting for an agent: its pods where it was installed, and its registration on the hub. */
import { agentNames } from '../../api/fleet/constants.ts';
import { isMusterError, MusterError } from '../../api/errors.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { awaitDeployment } from '../await-deployment.ts';
import { hubOf } from '../configuration.ts';
import type { CallContext } from '../handler.ts';
import type { AgentInputs } from './agent-inputs.ts';
import { awaitCluster } from './cluster-await.ts';

/** The pods and, where the Cluster is named, the registration; what hangs is told, both when both do. */
export async function awaitAgent(
  client: KubeClient,
  inputs: AgentInputs,
  namespace: string,
  context: CallContext,
): Promise<void> {
  const workload = { namespace, name: agentNames.deployment };
  if (inputs.cluster === undefined) return awaitDeployment(client, workload, context);
  const hub = context.clients.get(hubOf(inputs, context.configuration));
  const stop = new AbortController();
  const both = { report: context.report, signal: AbortSignal.any([context.signal, stop.signal]) };
  // A wait that cannot succeed ends the other one, too.
  const orStop = (error: unknown): never => {
    stop.abort(error);
    throw error;
  };
  const results = await Promise.allSettled([
    awaitDeployment(client, workload, both).catch(orStop),
    awaitCluster(hub.client, inputs.cluster, both).catch(orStop),
  ]);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const other = failures.find((failure) => !isMusterError(failure, 'TIMEOUT'));
  if (other !== undefined) throw other;
  const [first, second] = failures as MusterError[];
  if (first === undefined) return;
  if (second === undefined) throw first;
  throw new MusterError('TIMEOUT', `${first.message} ${second.where ?? ''}: ${second.message}`, {
    ...(first.where === undefined ? {} : { where: first.where }),
    ...(first.hint === undefined ? {} : { hint: first.hint }),
  });
}
