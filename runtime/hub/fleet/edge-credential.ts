/**
 * Handing a registration over to Fleet's agent: it takes what our agent has stored, but never renews it, so the token
 * that our agent left would end one day and the cluster with it.
 */
import { secretKeys, secretNames } from '../../../api/fleet/constants.ts';
import { sameCertificates } from '../../../api/fleet/hub-address.ts';
import type { Cluster } from '../../../api/fleet/kinds.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { parseKey } from '../../../api/resource.ts';
import type { KubeClient } from '../../kube/client.ts';
import { durablePlan, lasts } from '../../registration/credential.ts';
import { kubeconfigIn, replaceKubeconfig } from '../../registration/kubeconfig-secret.ts';
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
  const stored = await storedIn(edge, cluster, signal);
  const config = kubeconfigIn(stored, secretKeys.agentKubeconfig);
  if (stored === undefined || config === undefined || lasts(config.token, Date.now())) return;
  const account = accountKey(request, namespaceOf(cluster));
  if (context.serviceAccounts.get(account) === undefined) return;
  const { token } = await issue(context, { namespace: '', ...parseKey(account) }, durablePlan, signal);
  await replaceKubeconfig(edge, stored, secretKeys.agentKubeconfig, { ...config, token }, write(signal));
}

/**
 * Puts the hub's address into the credential that Fleet's agent has stored: it reads it at its start, and would register
 * anew for a change of it otherwise. A CA that the agent left out, because the system trusts the hub, stays out.
 */
export async function readdress(
  cluster: Cluster,
  edge: KubeClient,
  address: { readonly url: string; readonly ca: string },
  signal: AbortSignal,
): Promise<void> {
  const stored = await storedIn(edge, cluster, signal);
  const config = kubeconfigIn(stored, secretKeys.agentKubeconfig);
  if (stored === undefined || config === undefined) return;
  const ca = config.ca === undefined || address.ca === '' ? undefined : address.ca;
  if (config.server === address.url && sameCertificates(config.ca, ca)) return;
  const { ca: _, ...rest } = config;
  const moved = { ...rest, server: address.url, ...(ca === undefined ? {} : { ca }) };
  await replaceKubeconfig(edge, stored, secretKeys.agentKubeconfig, moved, write(signal));
}

const write = (signal: AbortSignal) => ({ fieldManager: hubFieldManager, signal });

async function storedIn(edge: KubeClient, cluster: Cluster, signal: AbortSignal): Promise<Secret | undefined> {
  return await edge.find(Secrets, { namespace: agentNamespaceOf(cluster), name: secretNames.agent }, { signal });
}
