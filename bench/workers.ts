/** A fixed number of workers over a number of jobs. */

/** Calls `job` for 0 … count-1, at most `workers` at a time; rejects with the first failure. */
export async function inParallel(count: number, workers: number, job: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: Math.min(workers, count) }, work));
}
