/**
 * Handing an agent's place over to Fleet's agent. It takes the credential that it finds and never renews it, so the token
 * of ours, which ends, is replaced by one of the same account that lasts; the hub does so where it installs agents.
 */
import { secretKeys, secretNames } from '../../api/fleet/constants.ts';
import { serviceAccountTokenName } from '../../api/fleet/names.ts';
import { MusterError } from '../../api/errors.ts';
import { Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import { keyOf } from '../../api/resource.ts';
import { formatTime } from '../../api/time.ts';
import { isConflict } from '../../runtime/kube/api-error.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { readClaims, serviceAccountOf } from '../../runtime/kube/token-claims.ts';
import { durablePlan, lasts, requestToken, secretToken, tokenEnd } from '../../runtime/registration/credential.ts';
import { kubeconfigIn, replaceKubeconfig } from '../../runtime/registration/kubeconfig-secret.ts';
import type { Connection } from '../configuration.ts';
import { explain } from '../explain.ts';
import { fieldManager } from '../fleet-object.ts';
import type { CallContext } from '../handler.ts';

/**
 * Looks at the stored credential, and does nothing when there is none or it lasts. Where it cannot be replaced, the
 * release goes on, because the token is good for months, and the user is told.
 */
export async function leaveLastingCredential(
  edge: KubeClient,
  namespace: string,
  hub: Connection | undefined,
  context: CallContext,
): Promise<void> {
  const { signal } = context;
  for (;;) {
    const stored = await edge.find(Secrets, { namespace, name: secretNames.agent }, { signal });
    const config = kubeconfigIn(stored, secretKeys.agentKubeconfig);
    if (stored === undefined || config === undefined || lasts(config.token, Date.now())) return;
    const token = await lastingToken(config.token, hub, context).catch((error: unknown) => {
      signal.throwIfAborted();
      context.report(notRenewed(keyOf(stored), config.token, error));
    });
    if (token === undefined) return;
    try {
      return await replaceKubeconfig(
        edge,
        stored,
        secretKeys.agentKubeconfig,
        { ...config, token },
        { fieldManager, signal },
      );
    } catch (error) {
      // our agent, which still runs, has renewed it at this moment
      if (!isConflict(error)) throw error;
    }
  }
}

/** Throws for a hub that is not given, does not know the account, or refuses. */
async function lastingToken(token: string, hub: Connection | undefined, context: CallContext): Promise<string> {
  if (hub === undefined) throw new MusterError('INVALID_ARGUMENT', 'no hub is given to ask for another');
  const { client } = context.clients.get(hub);
  const { signal } = context;
  const claims = readClaims(token);
  const account = serviceAccountOf(claims);
  const found = account && (await client.find(ServiceAccounts, account, { signal }));
  if (account === undefined || found === undefined || found.metadata.uid !== claims.accountUid) {
    throw new MusterError('NOT_FOUND', 'the hub that is given does not know its account', { where: client.server });
  }
  const bound = await requestToken(client, account, durablePlan, Date.now(), signal);
  if (bound !== undefined) return bound.token;
  const secret = { name: serviceAccountTokenName(account.name), labels: { ...found.metadata.labels }, signal };
  return (await secretToken(client, account, secret)).token;
}

function notRenewed(where: string, token: string, error: unknown): string {
  const end = formatTime(tokenEnd(token) ?? 0);
  const why = explain(error, where);
  return (
    `warning: Secret ${where}: Fleet's agent does not renew its token, which ends at ${end}, and it was not replaced by ` +
    `one that lasts: ${why} Name the hub (input hub, or muster:hubKubeconfig) and change redeploy, or register it anew.`
  );
}
