/** Bearer tokens of ServiceAccounts: how long they live, who renews them, and what to do when the server caps them. */
import { durations } from '../../api/durations.ts';
import { MusterError } from '../../api/errors.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { isAlreadyExists } from '../kube/api-error.ts';
import type { IssuedToken, KubeClient } from '../kube/client.ts';
import { readClaims } from '../kube/token-claims.ts';
import type { ServiceAccountKey } from './types.ts';

/** A token, and when it ends; without `expiresMs` it lives as long as its ServiceAccount. */
export interface Credential {
  readonly token: string;
  readonly expiresMs?: number;
}

/** How long a credential should live, in milliseconds, and the least that will do. */
export interface CredentialPlan {
  readonly wantedMs: number;
  readonly leastMs: number;
}

/** For an agent that renews its token: some months, so that it may be offline for long. */
export const rotatingPlan: CredentialPlan = {
  wantedMs: durations.rotatingCredential,
  leastMs: durations.rotatingCredentialLeast,
};

/**
 * For an agent that keeps its token for ever: years, in full or not at all. It ends with its ServiceAccount just as a
 * token Secret's does, but no copy of it lies in another Secret and nothing has to be waited for.
 */
export const durablePlan: CredentialPlan = {
  wantedMs: durations.durableCredential,
  leastMs: durations.durableCredential,
};

/** For a token that must last until a given time. */
export function untilPlan(endMs: number, nowMs: number): CredentialPlan {
  const remainingMs = Math.max(0, endMs - nowMs);
  return { wantedMs: remainingMs, leastMs: remainingMs };
}

/** The shortest life that the API server accepts in a TokenRequest. */
const shortestTokenMs = 10 * 60_000;

/**
 * A bound token from a TokenRequest: no Secret that keeps it, nothing to wait for. `undefined` when
 * the server grants less than the plan can do with (it may cap the life of tokens).
 */
export async function requestToken(
  client: KubeClient,
  serviceAccount: ServiceAccountKey,
  plan: CredentialPlan,
  nowMs: number,
  signal?: AbortSignal,
): Promise<Credential | undefined> {
  const expirationSeconds = Math.ceil(Math.max(plan.wantedMs, shortestTokenMs) / 1000);
  const issued: IssuedToken = await client.createToken(serviceAccount, { expirationSeconds }, signal ? { signal } : {});
  const expiresMs = Date.parse(issued.expirationTimestamp);
  // the server's clock may differ a little from ours
  return expiresMs - nowMs >= plan.leastMs - durations.clockTolerance ? { token: issued.token, expiresMs } : undefined;
}

/** When a bound token ends, in milliseconds since 1970; `undefined` for one that does not, or is no JSON web token. */
export function tokenEnd(token: string): number | undefined {
  const { expiresAt } = readClaims(token);
  return expiresAt === undefined ? undefined : expiresAt * 1000;
}

/** Whether an agent that never renews its token may keep this one. */
export function lasts(token: string, nowMs: number): boolean {
  const end = tokenEnd(token);
  return end === undefined || end - nowMs > durablePlan.leastMs / 2;
}

/** When an agent that has `expiresMs` should ask for the next token: after four fifths of the life of this one. */
export function renewAt(issuedMs: number, expiresMs: number): number {
  return issuedMs + 0.8 * (expiresMs - issuedMs);
}

/** What a token Secret needs beside its name. */
export interface TokenSecretOptions {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly ownerReferences?: Secret['metadata']['ownerReferences'];
  readonly signal?: AbortSignal;
}

/**
 * A token without end: a Secret of type `kubernetes.io/service-account-token` that kube-controller-manager fills. It is
 * watched until it is filled. Throws TIMEOUT (retryable) after `durations.tokenSecretDeadline`; the Secret stays, so the
 * next try finds it filled.
 */
export async function secretToken(
  client: KubeClient,
  serviceAccount: ServiceAccountKey,
  options: TokenSecretOptions,
): Promise<Credential> {
  const key = { namespace: serviceAccount.namespace, name: options.name };
  const call = options.signal ? { signal: options.signal } : {};
  const wanted: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/service-account-token',
    metadata: {
      ...key,
      labels: options.labels,
      annotations: { 'kubernetes.io/service-account.name': serviceAccount.name },
      ...(options.ownerReferences ? { ownerReferences: options.ownerReferences } : {}),
    },
  };
  let secret: Secret;
  try {
    secret = await client.create(Secrets, wanted, call);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    secret = await client.get(Secrets, key, call);
  }
  const token = tokenOf(secret) ?? (await watchToken(client, secret, options.signal));
  return { token };
}

async function watchToken(client: KubeClient, secret: Secret, signal: AbortSignal | undefined): Promise<string> {
  const { name = '', namespace = '', resourceVersion = '' } = secret.metadata;
  const deadline = AbortSignal.timeout(durations.tokenSecretDeadline);
  const both = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    const events = client.watch(Secrets, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      signal: both,
    });
    for await (const event of events) {
      const token = event.type === 'MODIFIED' || event.type === 'ADDED' ? tokenOf(event.object) : undefined;
      if (token !== undefined) return token;
    }
  } catch (error) {
    if (!deadline.aborted) throw error;
  }
  throw new MusterError('TIMEOUT', 'kube-controller-manager has not put a token into the Secret', {
    where: `Secret ${namespace}/${name}`,
    hint: 'Check that kube-controller-manager runs with a service account key.',
    retryable: true,
  });
}

/** The token of a filled token Secret. */
export function tokenOf(secret: Secret): string | undefined {
  const encoded = secret.data?.['token'];
  return encoded ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
}
