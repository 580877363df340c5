/**
 * `npm start`: a hub and two downstream clusters, registered by one real `pulumi up` of examples/register-clusters, then
 * shown as kubectl shows them. It stays up until Ctrl-C; with `--once` it removes everything and proves that nothing is
 * left.
 */
import { isMusterError } from '../api/errors.ts';
import { EngineError } from '../test/harness/pulumi-engine.ts';
import { createReporter } from '../tools/index.ts';
import { parseOptions, usage } from './options.ts';
import type { DemoOptions } from './options.ts';
import { runDemo } from './run.ts';

async function main(): Promise<number> {
  let options: DemoOptions;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const stop = new AbortController();
  const interrupted = new Error('interrupted');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(interrupted));
  const reporter = createReporter();
  try {
    await runDemo(options, reporter, stop.signal);
    return 0;
  } catch (error) {
    if (error === interrupted) {
      reporter.info('Interrupted; everything that this run had started is gone.');
      return 130;
    }
    const message = isMusterError(error) ? error.describe() : error instanceof Error ? error.message : String(error);
    // What the engine said has been shown already.
    process.stderr.write(`\n${error instanceof EngineError ? message.split('\n', 1)[0] : message}\n`);
    return 1;
  }
}

process.exitCode = await main();
