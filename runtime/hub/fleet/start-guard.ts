/** Before the first write: the hub's own identity, and that no hub of Fleet works here. */
import { durations } from '../../../api/durations.ts';
import { MusterError, isMusterError } from '../../../api/errors.ts';
import { defaults } from '../../../api/fleet/constants.ts';
import { Namespaces } from '../../../api/kubernetes/core.ts';
import type { Lease } from '../../../api/kubernetes/workloads.ts';
import { Leases } from '../../../api/kubernetes/workloads.ts';
import { isApiError, isForbidden } from '../../kube/api-error.ts';
import { backoffMs, pause } from '../../kube/backoff.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Logger } from '../../kube/logger.ts';

/** Lease of Fleet's agent management (Fleet: cmd/controller/agentmanagement). */
const theirLease = 'fleet-agentmanagement-lock';

/**
 * UID of the hub's kube-system. Waits while the API server cannot be reached, and while it grants no rights: manifests
 * may be applied in any order, and a process that ends for it would wait for its restart. Throws IN_USE when a hub of
 * Fleet holds its Lease: two hubs would answer one request with two credentials.
 */
export async function prepareHub(
  client: KubeClient,
  namespace: string,
  logger: Logger,
  signal: AbortSignal,
): Promise<string> {
  let told = '';
  for (let attempt = 1; ; attempt++) {
    try {
      const [system, lease] = await Promise.all([
        client.get(Namespaces, { name: defaults.clientIdNamespace }, { signal }),
        client.find(Leases, { namespace, name: theirLease }, { signal }),
      ]);
      if (lease !== undefined && isHeld(lease, Date.now())) {
        throw new MusterError('IN_USE', 'a hub of Fleet runs here', {
          where: `Lease ${namespace}/${theirLease}`,
          hint: 'Remove Fleet from this cluster, or use muster with the hub that it has (runtime: existing).',
        });
      }
      return system.metadata.uid ?? '';
    } catch (error) {
      const transient = isMusterError(error, 'UNREACHABLE', 'TIMEOUT') || isApiError(error, 429, 500, 502, 503, 504);
      if (!transient && !isForbidden(error)) throw error;
      const problem = transient
        ? 'the API server cannot be reached yet'
        : 'no rights yet: is the RBAC of the hub applied?';
      if (problem !== told) logger.warn({ error }, problem);
      told = problem;
    }
    await pause(backoffMs(attempt, { baseMs: durations.hubRetryFirst, maxMs: durations.importRetryFirst }), signal);
  }
}

/** Pure: renewed recently enough that its holder lives. */
export function isHeld(lease: Lease, nowMs: number): boolean {
  const { holderIdentity, renewTime, leaseDurationSeconds = 0 } = lease.spec ?? {};
  if (!holderIdentity || !renewTime) return false;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 > nowMs;
}
