/** Pauses between the tries at an edge that has to be left clean, longer with each. */
import { durations } from '../../../api/durations.ts';
import { backoffMs } from '../../kube/backoff.ts';

export interface EdgeRetries {
  /** Counts one more failure of `key`, and gives the pause until the next try in milliseconds. */
  failed(key: string): number;
  /** Nothing more is to be tried. */
  ended(key: string): void;
}

export function createEdgeRetries(): EdgeRetries {
  const counts = new Map<string, number>();
  return {
    failed(key) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return backoffMs(count, { baseMs: durations.edgeDetachRetryFirst, maxMs: durations.edgeDetachRetryLast });
    },
    ended: (key) => void counts.delete(key),
  };
}
