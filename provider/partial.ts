/**
 * Keeping track of what has been written: a failure before the first write means that nothing exists, one after it must
 * keep the resource in Pulumi's state.
 */
import { isMusterError } from '../api/errors.ts';
import { explain } from './explain.ts';
import { Incomplete } from './handler.ts';

/** Where a create or update stands. */
export interface Progress<O extends object> {
  readonly id: string;
  /** What the state would say if the next step failed. */
  outputs: O;
  /** Set by the first step that has succeeded. */
  started: boolean;
}

export function resuming<O extends object>(id: string, outputs: O): Progress<O> {
  return { id, outputs, started: false };
}

/**
 * Runs one step of a create or update.
 * @param exists tells, after a failure, whether anything is there. Default: an earlier step has succeeded.
 * @throws the step's own error when nothing is there, else Incomplete with the outputs so far.
 */
export async function applyStep<O extends object, T>(
  progress: Progress<O>,
  step: () => Promise<T>,
  exists: () => boolean = () => progress.started,
): Promise<T> {
  try {
    const result = await step();
    progress.started = true;
    return result;
  } catch (error) {
    if (!exists()) throw error;
    // A deadline that passes while objects are being written names no stage of its own.
    const stage = isMusterError(error, 'TIMEOUT') && error.where === undefined ? 'writing its objects' : undefined;
    throw new Incomplete(progress.id, progress.outputs, [
      explain(error, stage === undefined ? progress.id : `${progress.id}, ${stage}`),
    ]);
  }
}
