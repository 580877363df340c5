/**
 * Handing a registration over to Fleet's agent: it takes what our agent has stored, but never renews it, so the token
 * that our agent left would end one day and the cluster with it.
 */
import { secretKeys, secretNames } from '../../../api/fleet/constants.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { parseKey } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { ClientConfig } from '../../kube/client-config.ts';
import { formatKubeconfig, parseKubeconfig } from '../../kube/kubeconfig.ts';
import { durablePlan, tokenEnd } from '../../registration/credential.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { hubFieldManager } from './context.ts';
import { agentNamespaceOf } from './edge-agent.ts';
import { issue } from './registration-credential.ts';
import { accountKey } from './registration-grant.ts';
import { isRotating } from './registration-request.ts';
import { grantedRequests } from './registration-state.ts';

/**
 * Replaces the token that the cluster's agent has stored by one of the same account that lasts. Nothing happens when it
 * lasts already, or when no registration rests on it.
 */
export async function leaveLastingCredential(
  context: HubContext,
  cluster: Cluster,
  edge: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  const request = grantedRequests(context, cluster).find(isRotating);
  if (request === undefined) return;
  const key = { namespace: agentNamespaceOf(cluster), name: secretNames.agent };
  const stored = await edge.find(Secrets, key, { signal });
  const config = configOf(stored?.data?.[secretKeys.agentKubeconfig]);
  if (stored === undefined || config?.token === undefined) return;
  const end = tokenEnd(config.token);
  if (end === undefined || end - Date.now() > durablePlan.leastMs / 2) return;
  const account = accountKey(request, namespaceOf(cluster));
  if (context.serviceAccounts.get(account) === undefined) return;
  const { token } = await issue(context, { namespace: '', ...parseKey(account) }, durablePlan, signal);
  const { server, ca, namespace, contextName } = config;
  const kubeconfig = formatKubeconfig({
    ...{ server, token, contextName, namespace: namespace ?? '' },
    ...(ca === undefined ? {} : { ca }),
  });
  const data = { [secretKeys.agentKubeconfig]: Buffer.from(kubeconfig).toString('base64') };
  const { resourceVersion } = stored.metadata;
  await edge.patch(
    Secrets,
    key,
    { metadata: { resourceVersion }, data },
    { type: 'merge', fieldManager: hubFieldManager, signal },
  );
}

/** Undefined for what no agent of ours has written. */
function configOf(encoded: string | undefined): ClientConfig | undefined {
  try {
    return encoded ? parseKubeconfig(Buffer.from(encoded, 'base64'), { policy: 'hub' }) : undefined;
  } catch {
    return undefined;
  }
}
