/**
 * Every duration of the product, in milliseconds unless the name says otherwise. One line each, with its reason.
 * Parts add theirs to their own block.
 */
export const durations = {
  // api: what the Fleet wire documents promise
  /** How often an agent tells that it is alive (Fleet: default of agentCheckinInterval; `0s` means this). */
  agentCheckinInterval: 15 * 60_000,
  /** How often an agent looks for releases whose BundleDeployment is gone (Fleet: garbageCollectionInterval). */
  garbageCollectionInterval: 15 * 60_000,
  /** Life of the token that a manager-initiated registration makes for itself (Fleet: import token). */
  importTokenTtl: 12 * 3_600_000,
  /** An answered request's Secret is deleted after this; the agent has long copied it (Fleet: agent secret timeout). */
  registrationSecretLifetime: 40 * 60_000,
  /** Agent leader election, as in Fleet, so that one of ours and one of theirs agree on who leads. */
  agentLeaseDuration: 30_000,
  agentLeaseRenewDeadline: 25_000,
  agentLeaseRetryPeriod: 10_000,

  // agent: registration and liveness at the edge
  /** First look for the answer to a request; the RBAC of a bootstrap token allows GET by name only, no watch. */
  agentGrantPollFirst: 50,
  /** Longest pause between looks; reached when a request is a minute old, so that waiting fleets stay quiet. */
  agentGrantPollLast: 15_000,
  /** One attempt waits this long for an answer, then says NotGranted and tries the same request again. */
  agentGrantDeadline: 120_000,
  /** A hub may publish a credential before its RBAC (seen: seconds, with caches behind); refusals count after this. */
  agentCredentialSettle: 60_000,
  /** A stored credential is held to be rejected after being refused for this long; an API server that starts refuses too. */
  agentRejectionConfirm: 3_000,
  /** Back-off between failed attempts, with jitter, reset by success. */
  agentRetryFirst: 1_000,
  agentRetryLast: 60_000,
  /** A failure that lasts is repeated as an Event this often, so that it is still there when someone looks. */
  agentEventRepeat: 10 * 60_000,
  /** Longest single timer: timers of Node overflow at 24.8 days. */
  agentLongestWait: 24 * 3_600_000,
} as const;
