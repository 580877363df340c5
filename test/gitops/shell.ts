/** What a person types: programs in a folder, and the commands of a README, word for word. */
import { spawn } from 'node:child_process';

/** Where commands run. */
export interface ShellOptions {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: NodeJS.ProcessEnv;
}

/** How a script ended. */
export interface ShellResult {
  readonly code: number | null;
  /** Standard output. */
  readonly output: string;
  readonly errors: string;
}

/** Runs a bash script that ends with its first failure. Never rejects for a failing script: look at the code. */
export async function attempt(script: string, { cwd, env }: ShellOptions): Promise<ShellResult> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill);
  const [output, errors] = [gather(child.stdout), gather(child.stderr)];
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  process.off('exit', kill);
  return { code, output: output(), errors: errors() };
}

/** As {@link attempt}, for what must succeed. Throws with what the script said. */
export async function run(script: string, options: ShellOptions): Promise<string> {
  const { code, output, errors } = await attempt(script, options);
  if (code !== 0) throw new Error(`exit code ${code}\n${script}\n${output}${errors}`);
  return output;
}

/** The `sh` blocks of a Markdown text, in order. */
export function shellBlocks(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
}

function gather(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
