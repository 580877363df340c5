import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { repositoryRoot } from './repository.ts';
import { ToolError } from './tool-error.ts';

/** Source and name of each bundle: the command, and the two processes that it starts. */
const entries = [
  { source: 'cli/main.ts', name: 'muster.cjs' },
  { source: 'cli/hub-main.ts', name: 'hub.cjs' },
  { source: 'cli/agent-main.ts', name: 'agent.cjs' },
] as const;

async function existing(): Promise<(typeof entries)[number][]> {
  const found = await Promise.all(
    entries.map((entry) =>
      access(join(repositoryRoot, entry.source)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return entries.filter((_, index) => found[index]);
}

/** File names of the bundles. */
export async function bundleNames(): Promise<string[]> {
  return (await existing()).map((entry) => entry.name);
}

/**
 * The command starts hub and agent by importing their entries; as bundles of their own they are loaded only then, so
 * that an agent's process never holds the code of the rest.
 */
const separateProcesses: Plugin = {
  name: 'separate-processes',
  setup(plugin) {
    plugin.onResolve({ filter: /\/(hub|agent)-main\.ts$/ }, (args) => {
      if (args.kind === 'entry-point') return undefined;
      const name = args.path.includes('hub-main') ? 'hub' : 'agent';
      return { path: `./${name}.cjs`, external: true };
    });
  },
};

/** Bundles each process with all it needs into one file that runs without node_modules. Returns the file names. */
export async function bundle(into: string): Promise<string[]> {
  const found = await existing();
  for (const { source, name } of found) {
    try {
      await build({
        absWorkingDir: repositoryRoot,
        entryPoints: [source],
        outfile: join(into, name),
        bundle: true,
        platform: 'node',
        target: 'node22',
        format: 'cjs',
        plugins: [separateProcesses],
        banner: name === 'muster.cjs' ? { js: '#!/usr/bin/env node' } : {},
        legalComments: 'none',
        minifySyntax: true,
        logLevel: 'silent',
      });
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new ToolError('BUILD_FAILED', message, { what: `dist/bin/${name}`, cause });
    }
  }
  return found.map(({ name }) => name);
}
