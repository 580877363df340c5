/** `npm run -s bench -- NAME`: one JSON object on standard output, progress on standard error. */
import process from 'node:process';
import { agent } from './agent.ts';
import { burst } from './burst.ts';
import { type BenchOptions, parseOptions, usage } from './options.ts';
import { pulumi } from './pulumi.ts';
import { registration } from './registration.ts';
import { rules } from './rules.ts';
import { scale } from './scale.ts';

const benchmarks = { registration, burst, scale, agent, pulumi, rules } satisfies Record<BenchOptions['name'], unknown>;

async function main(argv: readonly string[]): Promise<number> {
  let options: BenchOptions | undefined;
  try {
    options = parseOptions(argv);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (options === undefined) {
    process.stderr.write(usage);
    return 0;
  }
  const result = await benchmarks[options.name](options);
  process.stdout.write(`${JSON.stringify(result)}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
