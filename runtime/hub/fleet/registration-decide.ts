/** One request decided, and the decision carried out as far as the request itself. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { labels } from '../../../api/fleet/constants.ts';
import type { Cluster, ClusterRegistration } from '../../../api/fleet/kinds.ts';
import { autoClusterName } from '../../../api/fleet/names.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import { decide } from '../../registration/decision.ts';
import { identityKey, indexes } from './caches.ts';
import { livenessOf } from './cluster-liveness.ts';
import { namespaceOf } from './cluster-namespace.ts';
import type { HubContext } from './context.ts';
import { takeBack, wasDeclared } from './made-in-vain.ts';
import { createCluster, grant } from './registration-fulfil.ts';
import { accountKey } from './registration-grant.ts';
import { tell } from './registration-report.ts';
import { toRequest, toTarget } from './registration-request.ts';
import { registrationOf } from './registration-state.ts';
import { isOneUse } from './token-objects.ts';

/** What became of a request: the Cluster (`namespace/name`) that it has, else when to look again. */
export type Outcome = { readonly cluster: string } | { readonly cluster?: undefined; readonly againMs?: number };

/** Decides a request and carries the decision out. */
export async function decideOne(
  context: HubContext,
  request: ClusterRegistration,
  signal: AbortSignal,
): Promise<Outcome> {
  const namespace = request.metadata.namespace ?? '';
  const identity = request.spec?.clientID ?? '';
  const automatic = autoClusterName(identity);
  const holders = identity ? context.clusters.byIndex(indexes.identity, identityKey(namespace, identity)) : [];
  const named = identity ? context.clusters.get(`${namespace}/${automatic}`) : undefined;
  if (await takeBack(context, holders, signal)) return { againMs: durations.hubRetryFirst };
  const spent = spentToken(context, request);
  if (spent !== undefined) {
    await tell(context, request, { outcome: 'reject', reason: reasons.tokenUsed, message: spent }, signal);
    return {};
  }
  const nowMs = Date.now();
  const target = (cluster: Cluster) =>
    toTarget(
      cluster,
      registrationOf(context, cluster).state === 'granted',
      livenessOf(context, cluster, nowMs).state === 'online',
    );
  const decision = decide({
    request: toRequest(request),
    holders: holders.map(target),
    named: named && target(named),
  });
  if (decision.outcome === 'skip') return {};
  if (decision.outcome === 'reject' || decision.outcome === 'wait') {
    await tell(context, request, decision, signal);
    return decision.reason === reasons.identityInUse ? { againMs: silentIn(context, holders[0] ?? named, nowMs) } : {};
  }
  const key = decision.outcome === 'bind' ? decision.target : `${namespace}/${automatic}`;
  return await carryOut(context, request, key, signal);
}

/** Grants the request the Cluster of that key (`namespace/name`), which is made if it is not there. */
async function carryOut(
  context: HubContext,
  request: ClusterRegistration,
  key: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const known = context.clusters.get(key);
  if (known !== undefined && isInPlace(context, request, known)) return { cluster: key };
  context.granting.add(key);
  try {
    const cluster = known ?? (await createCluster(context, request, parseKey(key).name, signal));
    if (cluster === undefined) return {};
    if (known === undefined && (await wasDeclared(context, cluster))) return { againMs: durations.hubRetryFirst };
    await grant(context, request, cluster, signal);
  } finally {
    context.granting.delete(key);
    context.enqueueCluster(key);
  }
  return { cluster: key };
}

/** Why the token of a request does for it no more: it is for one cluster, and another has it. */
function spentToken(context: HubContext, request: ClusterRegistration): string | undefined {
  const namespace = request.metadata.namespace ?? '';
  const name = request.metadata.labels?.[labels.registrationToken];
  const token = name ? context.tokens.get(`${namespace}/${name}`) : undefined;
  if (token === undefined || !isOneUse(token) || request.status?.granted === true) return undefined;
  const other = context.caches.requests
    .list(namespace)
    .map((each) => context.requests.get(keyOf(each)) ?? each)
    .find(
      (each) =>
        each.metadata.labels?.[labels.registrationToken] === name &&
        each.spec?.clientID !== request.spec?.clientID &&
        each.status?.granted === true,
    );
  if (other === undefined) return undefined;
  return `the token ${name ?? ''} is for one cluster, and ${other.status?.clusterName ?? ''} was registered with it`;
}

/** When the agent of a Cluster counts as silent unless it is heard of. */
function silentIn(context: HubContext, cluster: Cluster | undefined, nowMs: number): number {
  const liveness = cluster && livenessOf(context, cluster, nowMs);
  return liveness?.state === 'online' ? liveness.untilMs - nowMs + 1 : durations.hubRetryLast;
}

/** Granted earlier, for this cluster, and its account is still there. */
function isInPlace(context: HubContext, request: ClusterRegistration, cluster: Cluster): boolean {
  const { granted, clusterName } = request.status ?? {};
  if (granted !== true || clusterName !== cluster.metadata.name) return false;
  return context.serviceAccounts.get(accountKey(request, namespaceOf(cluster))) !== undefined;
}
