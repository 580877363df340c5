/** Waiting until a hub has nothing left to do. */
import { setTimeout as pause } from 'node:timers/promises';
import { durations } from '../api/durations.ts';
import { countRequests, difference, total } from './api-requests.ts';
import { cpuMs } from './process-usage.ts';
import { progress } from './report.ts';
import type { Target } from './target.ts';

/** Length of one look. */
const lookMs = 1000;

/** A hub at rest takes less CPU than this in a look, and a control plane at rest gets fewer requests. */
const restCpuMs = 50;
const restRequests = 10;

/** Resolves after two looks in a row at a hub at rest. */
export async function idle(target: Target): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    const [requests, cpu] = [await countRequests(target.config), cpuMs(target.pids()) ?? 0];
    await pause(lookMs);
    const added = total(difference(requests, await countRequests(target.config)));
    const rests = (cpuMs(target.pids()) ?? 0) - cpu < restCpuMs && added < restRequests;
    quiet = rests ? quiet + 1 : 0;
  }
}

/** Resolves when a hub at rest has handed back the memory of its last burst; another hub gets as much time. */
export async function memoryRest(target: Target): Promise<void> {
  await idle(target);
  progress('waiting for the memory that the hub hands back at rest');
  await pause(2 * durations.memoryRest + lookMs);
}
