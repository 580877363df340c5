import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**', 'test/consumers/**'],
    pool: 'forks',
    // a file of real programs keeps more than a core busy, and takes up to 2 GB
    maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
    testTimeout: 30_000,
    hookTimeout: 120_000,
    restoreMocks: true,
  },
});
