/** Argo CD's account downstream: its rights, its tokens, its end. */
import { reasons } from '../../../api/conditions.ts';
import { durations } from '../../../api/durations.ts';
import { isMusterError } from '../../../api/errors.ts';
import { labels, managedByMuster } from '../../../api/fleet/constants.ts';
import { Namespaces, ServiceAccounts } from '../../../api/kubernetes/core.ts';
import { ClusterRoleBindings, RoleBindings } from '../../../api/kubernetes/rbac.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { keyOf, parseKey } from '../../../api/resource.ts';
import type { ArgoCDAccessProps } from '../../../components/fleet/argocd-access.ts';
import { synthArgoCDAccess } from '../../../components/fleet/argocd-access.ts';
import { argoCDAccessLabel, argoCDAccessNamespace } from '../../../components/fleet/argocd-names.ts';
import { resourceTypeOf } from '../../../components/fleet/kinds.ts';
import { fieldManager } from '../../../components/fleet/names.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Credential } from '../../registration/credential.ts';
import { requestToken } from '../../registration/credential.ts';
import { ensureObject } from '../../registration/ensure.ts';
import { ImportFault } from '../fleet/edge-kubeconfig.ts';
import { explainEdgeError } from '../fleet/edge-probe.ts';

/**
 * Brings account and bindings into shape, then issues a token: as long as wanted, or as the server allows. Bindings of
 * an earlier configuration go first, so that no token is given out with more than it should have. Throws ImportFault.
 */
export async function grantArgoCD(
  edge: KubeClient,
  props: ArgoCDAccessProps,
  ttlMs: number,
  signal: AbortSignal,
): Promise<Credential> {
  return await bounded(edge, signal, async (limit) => {
    const manifests = synthArgoCDAccess(props);
    const wanted = new Set(manifests.map((object) => `${object.kind} ${keyOf(object)}`));
    await removeBindings(edge, props.name, limit, (object) => !wanted.has(`${object.kind} ${keyOf(object)}`));
    for (const object of manifests) await ensure(edge, object, props.name, limit);
    const plan = { wantedMs: ttlMs, leastMs: 0 };
    const account = { namespace: argoCDAccessNamespace, name: props.name };
    const issued = await requestToken(edge, account, plan, Date.now(), limit);
    if (issued?.expiresMs === undefined) throw new Error(`${edge.server} issued a token without an end`);
    return issued;
  });
}

/** Ends every token that was issued; the account is made again by the next grant. Throws ImportFault. */
export async function endArgoCDTokens(edge: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const account = { namespace: argoCDAccessNamespace, name };
  await bounded(edge, signal, (limit) => edge.delete(ServiceAccounts, account, { signal: limit }));
}

/** Removes all that was made downstream, and with it every token. Throws ImportFault. */
export async function revokeArgoCD(edge: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  await bounded(edge, signal, async (limit) => {
    const namespace = argoCDAccessNamespace;
    await edge.delete(ServiceAccounts, { namespace, name }, { signal: limit });
    await removeBindings(edge, name, limit, () => true);
    const ours = `${labels.managedBy}=${managedByMuster}`;
    const { items } = await edge.list(ServiceAccounts, { namespace, labelSelector: ours, signal: limit });
    if (items.length > 0) return;
    const found = await edge.find(Namespaces, { name: namespace }, { signal: limit });
    if (found?.metadata.labels?.[labels.managedBy] !== managedByMuster) return;
    const { uid, deletionTimestamp } = found.metadata;
    if (deletionTimestamp !== undefined) return;
    await edge.delete(Namespaces, { name: namespace }, { signal: limit, ...(uid ? { preconditions: { uid } } : {}) });
  });
}

async function bounded<T>(edge: KubeClient, signal: AbortSignal, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(durations.argoCDEdge)]);
  try {
    return await work(limit);
  } catch (error) {
    throw explain(error, edge, limit.aborted && !signal.aborted);
  }
}

function explain(error: unknown, edge: KubeClient, late: boolean): unknown {
  const { server } = edge;
  if (late) {
    const message = `${server} did not answer within ${durations.argoCDEdge / 1000} s`;
    return new ImportFault(reasons.timedOut, message, false);
  }
  if (isNamespaceTerminating(error)) {
    return new ImportFault(
      reasons.waitingForNamespace,
      `a namespace downstream is being deleted: ${error.message}`,
      false,
    );
  }
  if (isMusterError(error, 'ALREADY_OWNED')) return new ImportFault(reasons.nameTaken, error.describe(), false);
  return explainEdgeError(error, server);
}

async function ensure(edge: KubeClient, object: KubeObject, name: string, signal: AbortSignal): Promise<void> {
  if (object.kind === Namespaces.kind) return await ensureNamespace(edge, object, signal);
  const ours = (found: KubeObject): boolean => found.metadata.labels?.[argoCDAccessLabel] === name;
  const make = async (): Promise<void> => {
    await ensureObject(edge, { type: resourceTypeOf(object), object }, { fieldManager, ours, signal });
  };
  try {
    await make();
  } catch (error) {
    const { namespace } = object.metadata;
    if (!isNotFound(error) || namespace === undefined || namespace === argoCDAccessNamespace) throw error;
    // whoever names it wants to work in it, and Argo CD could not make it; it is the user's from now on
    await ensureNamespace(edge, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, signal);
    await make();
  }
}

/** One that was there before is used as it is. */
async function ensureNamespace(edge: KubeClient, namespace: KubeObject, signal: AbortSignal): Promise<void> {
  const { name = '' } = namespace.metadata;
  if ((await edge.find(Namespaces, { name }, { signal })) !== undefined) return;
  try {
    await edge.create(Namespaces, namespace, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function removeBindings(
  edge: KubeClient,
  name: string,
  signal: AbortSignal,
  which: (object: KubeObject) => boolean,
): Promise<void> {
  const types: readonly ResourceType[] = [RoleBindings, ClusterRoleBindings];
  await Promise.all(
    types.map(async (type) => {
      const { items } = await edge.list(type, { labelSelector: `${argoCDAccessLabel}=${name}`, signal });
      // items of a list do not tell their kind
      const surplus = items.filter(({ metadata }) => which({ apiVersion: '', kind: type.kind, metadata }));
      await Promise.all(surplus.map((object) => edge.delete(type, parseKey(keyOf(object)), { signal })));
    }),
  );
}
