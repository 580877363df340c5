/** Taking everything back, in an order that never leaves a live credential behind. */

/** One step of a detachment. */
export interface DetachStep {
  /** Lower-case words; shown to users in "waiting for …". */
  readonly name: string;
  /**
   * Does its part; safe to repeat. `done` when nothing is left, `waiting` when something else has to end first (an event
   * will tell), with what it waits for.
   */
  run(): Promise<DetachProgress>;
}

export type DetachProgress =
  | { readonly state: 'done' }
  | {
      readonly state: 'waiting';
      readonly reason: string;
      readonly message: string;
      /** False: the steps after it need not wait for it, only the end has to. Default: true. */
      readonly blocks?: boolean;
      /** Look again after this even if no event comes. */
      readonly againMs?: number;
    };

export const done: DetachProgress = { state: 'done' };

/**
 * Runs the steps in order up to the first that waits and blocks. Returns `undefined` when all are done, else the first
 * step that waits, and why. A step that throws ends the run with its error.
 */
export async function runDetach(
  steps: readonly DetachStep[],
): Promise<{ step: string; progress: Extract<DetachProgress, { state: 'waiting' }> } | undefined> {
  let first: { step: string; progress: Extract<DetachProgress, { state: 'waiting' }> } | undefined;
  for (const step of steps) {
    const progress = await step.run();
    if (progress.state === 'done') continue;
    first ??= { step: step.name, progress };
    if (progress.blocks !== false) break;
  }
  return first;
}
