/** Many simulated agents of one hub. */
import { randomToken } from '../api/fleet/names.ts';
import type { BootstrapValues } from '../api/fleet/bootstrap-values.ts';
import type { BenchOptions } from './options.ts';
import { progress } from './report.ts';
import { SimulatedAgent } from '../test/support/simulated-agent.ts';
import { inParallel } from '../runtime/kube/in-parallel.ts';

/** Progress is told after this many registrations. */
const tellEvery = 100;

export class Crowd {
  readonly #options: Pick<BenchOptions, 'workers' | 'intervalMs'>;
  readonly #agents: SimulatedAgent[] = [];
  #stop = new AbortController();
  #lives: Promise<unknown>[] = [];
  #failures = 0;

  constructor(options: Pick<BenchOptions, 'workers' | 'intervalMs'>) {
    this.#options = options;
  }

  get size(): number {
    return this.#agents.length;
  }

  /** Registers `count` more agents; each reports from then on. */
  async grow(
    count: number,
    values: BootstrapValues,
    clientID: (index: number) => string = () => `bench-${randomToken(12)}`,
  ): Promise<void> {
    await inParallel(count, this.#options.workers, async (index) => {
      const agent = await SimulatedAgent.register(values, clientID(index), this.#stop.signal);
      this.#agents.push(agent);
      this.#live(agent);
      if (this.size % tellEvery === 0) progress(`${this.size} agents are registered`);
    });
  }

  /** One heartbeat of each agent, `workers` at a time. */
  async beatOnce(workers: number): Promise<void> {
    await inParallel(this.size, workers, async (index) => this.#agents[index]?.beat(this.#stop.signal));
  }

  /** Ends all heartbeats and watches. */
  async pause(): Promise<void> {
    this.#stop.abort(new Error('the agents pause'));
    await Promise.all(this.#lives.splice(0));
    if (this.#failures > 0) progress(`${this.#failures} heartbeats or watches of agents failed`);
  }

  async close(): Promise<void> {
    await this.pause();
    await Promise.all(this.#agents.map((agent) => agent.close()));
  }

  #live(agent: SimulatedAgent): void {
    const { signal } = this.#stop;
    const until = async (work: Promise<void>): Promise<void> => {
      try {
        await work;
      } catch {
        if (!signal.aborted) this.#failures += 1;
      }
    };
    this.#lives.push(until(agent.keepBeating(this.#options.intervalMs, signal)));
    this.#lives.push(until(agent.keepListening(signal)));
  }
}
