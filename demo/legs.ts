/** How long each leg of the run took. */
import { silentReporter } from '../tools/index.ts';
import type { Reporter } from '../tools/index.ts';

/** Times the legs and shows them while they run. */
export class Legs {
  readonly #reporter: Reporter;
  readonly #times: { name: string; ms: number }[] = [];

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** Runs one leg; a failure is shown and thrown on. `ownOutput`: the work itself shows how far it is. */
  async run<T>(name: string, work: () => Promise<T>, { ownOutput = false } = {}): Promise<T> {
    const start = performance.now();
    const step = (ownOutput ? silentReporter : this.#reporter).step(name);
    try {
      const result = await work();
      step.done();
      return result;
    } catch (error) {
      step.fail();
      throw error;
    } finally {
      this.#times.push({ name, ms: performance.now() - start });
    }
  }

  /** A table of all legs so far, with their sum. */
  table(): string {
    const sum = this.#times.reduce((total, { ms }) => total + ms, 0);
    const rows = [...this.#times, { name: 'total', ms: sum }];
    const width = Math.max(...rows.map(({ name }) => name.length));
    return rows.map(({ name, ms }) => `${name.padEnd(width)}  ${(ms / 1000).toFixed(1).padStart(6)} s`).join('\n');
  }
}
