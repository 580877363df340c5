/** The few numbers that a benchmark says about its runs. */

/** The value below which `share` (0 to 1) of the values are; NaN for none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** The middle value, or the mean of the two in the middle; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[half] ?? Number.NaN;
  return ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2;
}

/** Figures of one run, by name; null for what could not be measured. */
export type Figures = Readonly<Record<string, number | null>>;

/** Each figure's median over the runs, and beside them the smallest and the largest of each. */
export type Summary = Record<string, number | null | Record<string, number | null>>;

/** The medians of all runs, with `min` and `max` beside them. */
export function summarize(runs: readonly Figures[], digits = 1): Summary {
  const names = Object.keys(runs[0] ?? {});
  const each = (pick: (values: number[]) => number): Record<string, number | null> =>
    Object.fromEntries(
      names.map((name) => {
        const values = runs.map((run) => run[name]).filter((value) => typeof value === 'number');
        return [name, values.length === 0 ? null : Number(pick(values).toFixed(digits))];
      }),
    );
  return { ...each(median), min: each((values) => Math.min(...values)), max: each((values) => Math.max(...values)) };
}
