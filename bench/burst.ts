/** Many requests at once: how fast credentials become readable, and what that costs the hub. */
import { randomBytes } from 'node:crypto';
import { sendBurst, warmUpOf } from './bursts.ts';
import { bareRegistrations } from './ceiling.ts';
import type { BenchOptions } from './options.ts';
import { progress } from './report.ts';
import { type Figures, summarize } from './statistics.ts';
import { openTarget } from './target.ts';
import { makeToken } from './token.ts';

export async function burst(options: BenchOptions): Promise<object> {
  const target = await openTarget(options);
  try {
    const name = `bench-${randomBytes(3).toString('hex')}`;
    await makeToken(target, name);
    const { count, existing, runs, workers } = options;
    if (existing > 0) await sendBurst(target, name, existing, workers);
    const figures: Figures[] = [];
    for (let i = 1; i <= runs; i++) {
      // Side by side, so that whatever else the machine does hits both; never at the same time.
      await target.startHub();
      await sendBurst(target, name, warmUpOf(count), workers);
      const burstFigures = await sendBurst(target, name, count, workers);
      await target.stopHub();
      // what the ceiling's own code and connections need to be warm comes from the same objects
      if (i === 1) await bareRegistrations(target, warmUpOf(count), workers);
      const ceilingPerSecond = await bareRegistrations(target, count, workers);
      figures.push({ ...burstFigures, ceilingPerSecond, ofCeiling: burstFigures.perSecond / ceilingPerSecond });
      progress(`run ${i} of ${runs}: ${JSON.stringify(figures.at(-1))}`);
    }
    return {
      benchmark: 'burst',
      hub: options.hub === undefined ? 'muster' : target.config.server,
      count,
      existing,
      runs,
      ...summarize(figures, 2),
    };
  } finally {
    await target.close();
  }
}
