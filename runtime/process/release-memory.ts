/** Memory of a process that works in bursts and rests between them. */
import { durations } from '../../api/durations.ts';
import { collectGarbage } from './collect-garbage.ts';

/** Share of one core below which a process counts as at rest. */
const restShare = 0.05;
/** Growth of the heap since the last collection that is worth one, in bytes. */
const worthwhile = 8 * 1024 * 1024;

/** What {@link releaseMemoryAtRest} looks at; a test gives its own. */
export interface MemoryProbe {
  /** CPU time of the process so far, in milliseconds. */
  cpuMs(): number;
  /** Heap in use, garbage included, in bytes. */
  heapBytes(): number;
  collect(): void;
}

const ownProcess: MemoryProbe = {
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  heapBytes: () => process.memoryUsage().heapUsed,
  collect: collectGarbage,
};

/**
 * Collects the garbage that a burst has left, once the process has been at rest for `everyMs` (default:
 * `durations.memoryRest`). The engine itself collects when more is allocated, so that a process that stops allocating
 * keeps its garbage for hours. Does not keep the process alive; returns what ends it.
 */
export function releaseMemoryAtRest(
  probe: MemoryProbe = ownProcess,
  everyMs: number = durations.memoryRest,
): () => void {
  let cpuMs = probe.cpuMs();
  let clean = 0;
  const timer = setInterval(() => {
    const now = probe.cpuMs();
    const rests = now - cpuMs < restShare * everyMs;
    cpuMs = now;
    if (!rests || probe.heapBytes() - clean < worthwhile) return;
    probe.collect();
    clean = probe.heapBytes();
    cpuMs = probe.cpuMs();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
