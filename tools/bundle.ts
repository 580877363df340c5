import { join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { repositoryRoot } from './repository.ts';
import { ToolError } from './tool-error.ts';

/** Source and name of each bundle: the command, and what it loads when it is asked for. */
const entries = [
  { source: 'cli/main.ts', name: 'muster.cjs' },
  { source: 'cli/program.ts', name: 'program.cjs' },
  { source: 'cli/hub-main.ts', name: 'hub.cjs' },
  { source: 'cli/agent-main.ts', name: 'agent.cjs' },
] as const;

/** File names of the bundles. */
export const bundleNames: readonly string[] = entries.map((entry) => entry.name);

/**
 * The command imports its parts when it is asked for them; as bundles of their own they are read only then, so that an
 * agent's process never holds the code of the rest.
 */
const separateParts: Plugin = {
  name: 'separate-parts',
  setup(plugin) {
    plugin.onResolve({ filter: /^\.\// }, (args) => {
      if (args.kind !== 'dynamic-import') return undefined;
      const source = relative(repositoryRoot, join(args.resolveDir, args.path));
      const part = entries.find((entry) => entry.source === source);
      return part === undefined ? undefined : { path: `./${part.name}`, external: true };
    });
  },
};

/** Bundles each process with all it needs into one file that runs without node_modules. */
export async function bundle(into: string): Promise<void> {
  for (const { source, name } of entries) {
    try {
      await build({
        absWorkingDir: repositoryRoot,
        entryPoints: [source],
        outfile: join(into, name),
        bundle: true,
        platform: 'node',
        target: 'node22',
        format: 'cjs',
        plugins: [separateParts],
        legalComments: 'none',
        minifySyntax: true,
        logLevel: 'silent',
      });
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new ToolError('BUILD_FAILED', message, { what: `dist/bin/${name}`, cause });
    }
  }
}
