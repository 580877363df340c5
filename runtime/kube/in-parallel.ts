/** A fixed number of workers over a number of jobs. */

/**
 * Calls `job` for 0 … count-1, at most `workers` at a time; rejects with the first failure, after which no job is begun.
 */
export async function inParallel(count: number, workers: number, job: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    try {
      while (next < count) await job(next++);
    } catch (error) {
      next = count;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, count) }, work));
}
