/** Proof that rights are effective: authorizers read RBAC through caches, some milliseconds late. */
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import { backoffMs, pause } from '../kube/backoff.ts';
import type { KubeClient } from '../kube/client.ts';
import type { AccessCheck, ServiceAccountKey } from './types.ts';

const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** User and groups of a ServiceAccount, as the API server sees its tokens. */
export function serviceAccountUser({ namespace, name }: ServiceAccountKey): { user: string; groups: string[] } {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

/**
 * Resolves when every check is allowed. Asks again with growing pauses, because there is nothing to watch. Throws
 * FORBIDDEN (retryable) after `durations.grantVerifyDeadline`, naming the right that is missing.
 */
export async function verifyAccess(
  client: KubeClient,
  checks: readonly AccessCheck[],
  signal?: AbortSignal,
): Promise<void> {
  await Promise.all(checks.map((check) => verifyOne(client, check, signal)));
}

async function verifyOne(client: KubeClient, check: AccessCheck, signal: AbortSignal | undefined): Promise<void> {
  const deadline = Date.now() + durations.grantVerifyDeadline;
  const pauses = { baseMs: durations.grantVerifyFirst, maxMs: durations.grantVerifyLast };
  for (let attempt = 1; ; attempt++) {
    if (await allowed(client, check, signal)) return;
    if (Date.now() >= deadline) {
      throw new MusterError('FORBIDDEN', `${check.user} still may not ${check.verb} ${check.resource}`, {
        hint: 'Check that the ClusterRoles of the hub are in place (install the hub again).',
        retryable: true,
      });
    }
    await pause(backoffMs(attempt, pauses), signal);
  }
}

async function allowed(client: KubeClient, check: AccessCheck, signal: AbortSignal | undefined): Promise<boolean> {
  const { user, groups, namespace, name, verb, group, resource } = check;
  const [plural, subresource] = resource.split('/');
  const resourceAttributes = { namespace, name, verb, group, resource: plural, subresource };
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, groups, resourceAttributes },
  };
  const answer = await client.raw(reviews, { method: 'POST', body, ...(signal ? { signal } : {}) });
  return (answer as { status?: { allowed?: boolean } }).status?.allowed === true;
}
