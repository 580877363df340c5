import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

describe('keepSmall', () => {
  it('given a process of its own, when its time has come, then garbage is collected and the process may end', () => {
    // Time is made to pass by a timer that fires at once: the engine's settings would stay in this process.
    const script = `
      const { PerformanceObserver } = await import('node:perf_hooks');
      const real = setTimeout;
      globalThis.setTimeout = (run, _ms) => real(run, 0);
      const { keepSmall } = await import('./runtime/process/keep-small.ts');
      new PerformanceObserver((list) => {
        if (list.getEntries().some(({ detail }) => detail.kind === 4)) { console.log('collected'); process.exit(0); }
      }).observe({ entryTypes: ['gc'] });
      keepSmall();
      real(() => undefined, 20_000);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stdout + stderr).toContain('collected');
  });
});
