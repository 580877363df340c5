/** All commands but the two long-running ones, and the help that names every one. */
import { Command, CommanderError } from 'commander';
import { version } from '../api/version.ts';
import { addSynth } from './synth/command.ts';

/** Builds the program. `write` takes what would go to standard output. */
export function createProgram(write: (text: string) => void): Command {
  const program = new Command('muster')
    .description('Register Kubernetes clusters with a hub')
    .version(version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({ writeOut: write });
  // Run by dispatch(), before this file is loaded; here for the help only.
  program.command('hub').description('run the hub');
  program.command('agent').description('run the agent of a cluster');
  addSynth(program, write);
  program
    .command('version')
    .description('print the version')
    .action(() => write(`${version}\n`));
  return program;
}

/** Resolves to the exit code. Throws MusterErrors of the commands. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const program = createProgram((text) => process.stdout.write(text));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed its own message (usage errors and help) already.
    if (error instanceof CommanderError) return error.exitCode;
    throw error;
  }
}
