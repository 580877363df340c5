/** A credential that was deleted under a running agent: it is still in memory, and would be gone with the process. */
import { agentNames, secretNames } from '../../../api/fleet/constants.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { Deployments } from '../../../api/kubernetes/workloads.ts';
import type { AgentContext } from './context.ts';
import { storeCredential } from './credential.ts';
import type { AgentCredential } from './credential.ts';
import { toAgentError } from './failure.ts';

/**
 * Puts the Secret back when it is missing and nobody means it: who installs this cluster anew has put a bootstrap Secret
 * there, and who removes the agent takes its Deployment away first. Never rejects but for `signal`.
 */
export async function restoreIfLost(
  context: AgentContext,
  credential: AgentCredential,
  signal: AbortSignal,
): Promise<void> {
  const { edge, namespace } = context;
  try {
    if ((await edge.find(Secrets, { namespace, name: secretNames.agent }, { signal })) !== undefined) return;
    const [bootstrap, deployment] = await Promise.all([
      edge.find(Secrets, { namespace, name: secretNames.bootstrap }, { signal }),
      edge.find(Deployments, { namespace, name: agentNames.deployment }, { signal }),
    ]);
    if (bootstrap !== undefined || deployment === undefined) return;
    if (deployment.metadata.deletionTimestamp !== undefined) return;
    await storeCredential(edge, namespace, credential);
    context.status.succeeded('CredentialRestored', `Secret ${secretNames.agent} was missing and is back`, true);
  } catch (error) {
    if (signal.aborted) throw error;
    context.status.warned(toAgentError(error, 'edge', edge.server));
  }
}
