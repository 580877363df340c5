import { defineConfig } from 'vitest/config';

/** One file at a time: each has a hub and a cluster of its own, and Fleet's programs are heavy. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    // those whose programs were given
    include: [
      ...(process.env['MUSTER_INTEROP_FLEET_CONTROLLER'] ? ['!(flux).interop.ts'] : []),
      ...(process.env['MUSTER_INTEROP_FLUX_CONTROLLER'] ? ['flux.interop.ts'] : []),
    ],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
