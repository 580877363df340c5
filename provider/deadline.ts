/** One deadline per call: Pulumi gives dynamic resources neither a timeout nor a signal to cancel. */
import { durations } from '../api/durations.ts';
import { parseGoDuration } from '../api/duration.ts';
import { MusterError } from '../api/errors.ts';

export type Operation = 'create' | 'update' | 'delete' | 'read' | 'diff';

/** The input `timeouts`: Go durations such as `5m`. */
export interface Timeouts {
  readonly create?: string | undefined;
  readonly update?: string | undefined;
  readonly delete?: string | undefined;
}

const defaultMs: Readonly<Record<Operation, number>> = {
  create: durations.providerCreate,
  update: durations.providerUpdate,
  delete: durations.providerDelete,
  read: durations.providerRead,
  diff: durations.providerRead,
};

/** How long an operation may take, in milliseconds. Inputs have been checked; what does not parse is the default. */
export function timeLimit(operation: Operation, props: { readonly timeouts?: unknown }): number {
  const timeouts = (typeof props.timeouts === 'object' ? props.timeouts : null) as Record<string, unknown> | null;
  const text = timeouts?.[operation];
  return typeof text === 'string' ? parseGoDuration(text) : defaultMs[operation];
}

/** Runs `body` with a signal that aborts with TIMEOUT after `limitMs`. The timer ends with the body. */
export async function withDeadline<T>(
  operation: Operation,
  limitMs: number,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new MusterError('TIMEOUT', `${operation} did not finish in ${limitMs / 1000} s`, {
        hint: `Raise timeouts.${operation}, or set awaitReady to false.`,
        retryable: true,
      }),
    );
  }, limitMs);
  try {
    return await body(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}
