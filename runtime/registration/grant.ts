/**
 * Carrying out a grant. The order is the promise of this file: first the rights, then the proof that they are
 * effective, and only then the credential is published, because an agent uses it the moment it can read it.
 */
import type { KubeClient } from '../kube/client.ts';
import { verifyAccess } from './access.ts';
import type { Credential } from './credential.ts';
import type { EnsureOptions } from './ensure.ts';
import { ensureObject } from './ensure.ts';
import type { AccessCheck, GrantObject } from './types.ts';

/** A grant of any protocol. */
export interface GrantPlan {
  /** Waves of objects: those of one wave are made side by side, the next wave when all are there. */
  readonly rights: readonly (readonly GrantObject[])[];
  /** Rights to prove before publishing. */
  readonly checks: readonly AccessCheck[];
  /** Obtains the credential; called when all rights are in place, beside the proof. */
  readonly issue: (signal?: AbortSignal) => Promise<Credential>;
  /** The object that carries the credential to the agent. */
  readonly publish: (credential: Credential) => GrantObject;
  /** What lets the agent see that object; done beside its publication. */
  readonly show?: readonly (() => Promise<void>)[];
}

/**
 * Carries out the plan; safe to repeat after any interruption: objects that are there are left alone, and an object
 * that was published is replaced by the credential of this run. Throws what the failing step threw; nothing was
 * published before all rights were in place.
 */
export async function carryOutGrant(client: KubeClient, plan: GrantPlan, options: EnsureOptions): Promise<void> {
  for (const wave of plan.rights) {
    await Promise.all(wave.map((entry) => ensureObject(client, entry, options)));
  }
  const [credential] = await Promise.all([
    plan.issue(options.signal),
    verifyAccess(client, plan.checks, options.signal),
  ]);
  const shown = (plan.show ?? []).map((work) => work());
  await Promise.all([ensureObject(client, plan.publish(credential), options), ...shown]);
}
