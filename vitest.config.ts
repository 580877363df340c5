import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**', 'test/consumers/**'],
    pool: 'forks',
    // files of real programs wait as long as they compute, and take up to 2 GB each
    maxWorkers: Math.min(4, availableParallelism() + 2),
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    restoreMocks: true,
  },
});
