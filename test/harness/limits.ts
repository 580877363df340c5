/**
 * The harness's own times, in milliseconds. They are not in `api/durations.ts` because that file ships to users and
 * these serve tests and the demo only. Limits are generous: they end a hang, they never decide a race.
 */
export const limits = {
  /** First pause between two looks at something that cannot be watched (a program that is just starting). */
  pollMin: 20,
  /** Longest such pause; short, because a start of four seconds is made of these. */
  pollMax: 200,
  /** One readiness request; a healthy apiserver on loopback answers in a few milliseconds. */
  probe: 2_000,
  /** A component from start to ready: 4 s on idle cores, many times that when eight test files share two. */
  start: 120_000,
  /** From SIGTERM to SIGKILL: an apiserver with open watches takes a few seconds to drain. */
  stop: 15_000,
  /** From SIGKILL to a reaped process; longer only when the machine swaps. */
  kill: 10_000,
  /** A node from start to Ready: 5 s alone, most of it the import of images. */
  nodeReady: 180_000,
  /** Cleaning up after a dead run: cgroups stay busy for a moment after their last process died. */
  clean: 20_000,
} as const;
