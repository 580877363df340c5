/** The benchmark's command line. */
import { parseArgs } from 'node:util';

export const usage = `Usage: npm run -s bench -- NAME [options]

  registration   one cluster, each leg timed, by token and by kubeconfig
  burst          many requests at once, and the bare API's ceiling for the same writes
  scale          a hub with many clusters: memory, bursts beside an empty hub, heartbeats, restart
  agent          memory, start and steady state of the agent
  pulumi         pulumi up and preview of registered clusters without a change
  rules          clusters of Cluster API that come and go in one go, beside broken ones, with a restart of the hub

  --count N      burst, scale: requests per run; pulumi, rules: clusters (100)
  --broken N     rules: broken sources beside them (50)
  --existing N   burst: clusters that are registered before the first run, not measured (0)
  --clusters N,… scale: numbers of registered clusters at which the hub is measured (400,1000)
  --interval N   scale: seconds between heartbeats of an agent (900)
  --runs N       runs; figures are their medians (5)
  --workers N    burst, scale: requests under way at a time (50)
  --hub FILE     kubeconfig of an administrator of another hub to measure; default: our own, started here
  --hub-pid N    with --hub: process of that hub, for CPU and memory; may be given again
  --agent CMD    program to start as agent instead of ours; gets --kubeconfig FILE --namespace NAMESPACE
  --json         accepted for clarity: the result is always one JSON object on standard output
`;

const names = ['registration', 'burst', 'scale', 'agent', 'pulumi', 'rules'] as const;

export interface BenchOptions {
  readonly name: (typeof names)[number];
  readonly count: number;
  readonly existing: number;
  readonly broken: number;
  /** Growing. */
  readonly clusters: readonly number[];
  readonly intervalMs: number;
  readonly runs: number;
  readonly workers: number;
  readonly hub: string | undefined;
  readonly hubPids: readonly number[];
  /** Program and first arguments. */
  readonly agent: readonly string[] | undefined;
}

/** Throws an Error that says what is wrong with the arguments. `undefined`: help was asked for. */
export function parseOptions(argv: readonly string[]): BenchOptions | undefined {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '100' },
      existing: { type: 'string', default: '0' },
      broken: { type: 'string', default: '50' },
      clusters: { type: 'string', default: '400,1000' },
      interval: { type: 'string', default: '900' },
      runs: { type: 'string', default: '5' },
      workers: { type: 'string', default: '50' },
      hub: { type: 'string' },
      'hub-pid': { type: 'string', multiple: true, default: [] },
      agent: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const [given, ...more] = positionals;
  const name = names.find((known) => known === given);
  if (name === undefined || more.length > 0) throw new Error(`name one of: ${names.join(', ')}`);
  if (values.hub === undefined && values['hub-pid'].length > 0) throw new Error('--hub-pid needs --hub');
  return {
    name,
    count: number('count', values.count, 1),
    existing: number('existing', values.existing, 0),
    broken: number('broken', values.broken, 0),
    clusters: growing(values.clusters),
    intervalMs: number('interval', values.interval, 1) * 1000,
    runs: number('runs', values.runs, 1),
    workers: number('workers', values.workers, 1),
    hub: values.hub,
    hubPids: values['hub-pid'].map((pid) => number('hub-pid', pid, 1)),
    agent: values.agent?.trim().split(/\s+/),
  };
}

function growing(text: string): number[] {
  const steps = text.split(',').map((step) => number('clusters', step, 1));
  if (steps.every((step, index) => index === 0 || step > (steps[index - 1] ?? 0))) return steps;
  throw new Error('--clusters must grow from number to number');
}

function number(name: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${name} must be a whole number of at least ${least}`);
}
