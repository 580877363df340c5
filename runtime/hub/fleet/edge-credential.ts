/**
 * Handing a registration over to Fleet's agent: it takes what our agent has stored, but never renews it, so the token
 * that our agent left would end one day and the cluster with it.
 */
import { secretKeys, secretNames } from '../../../api/fleet/constants.ts';
import { sameCertificates } from '../../../api/fleet/hub-address.ts';
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
  const key = { namespace: agentNamespaceOf(cluster), name: secretNames.agent };
  const stored = await edge.find(Secrets, key, { signal });
  const config = configOf(stored?.data?.[secretKeys.agentKubeconfig]);
  if (stored === undefined || config?.token === undefined) return;
  const ca = config.ca === undefined || address.ca === '' ? undefined : address.ca;
  if (config.server === address.url && sameCertificates(config.ca, ca)) return;
  const { token, namespace = '', contextName } = config;
  const place = { server: address.url, ...(ca === undefined ? {} : { ca }) };
  const kubeconfig = formatKubeconfig({ ...place, token, contextName, namespace });
  const data = { [secretKeys.agentKubeconfig]: Buffer.from(kubeconfig).toString('base64') };
  const patch = { metadata: { resourceVersion: stored.metadata.resourceVersion }, data };
  await edge.patch(Secrets, key, patch, { type: 'merge', fieldManager: hubFieldManager, signal });
}

/** Undefined for what no agent of ours has written. */
function configOf(encoded: string | undefined): ClientConfig | undefined {
  try {
    return encoded ? parseKubeconfig(Buffer.from(encoded, 'base64'), { policy: 'hub' }) : undefined;
  } catch {
    return undefined;
  }
}
