/**
 * Which command runs. `hub` and `agent` are told apart before anything else is loaded: an agent's process holds what
 * an agent needs and no more. In the bundle, the modules imported here are files of their own.
 */
import { describeFailure } from './failure.ts';

/** Runs the command line without the program's own name; resolves to the exit code and never rejects. */
export async function dispatch(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  try {
    switch (command) {
      case 'agent':
        return await (await import('./agent-main.ts')).agentMain(rest);
      case 'hub':
        return await (await import('./hub-main.ts')).hubMain(rest);
      default:
        return await (await import('./program.ts')).runProgram(argv);
    }
  } catch (error) {
    process.stderr.write(`${describeFailure(error)}\n`);
    return 1;
  }
}
