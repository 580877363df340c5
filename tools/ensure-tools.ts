import { join } from 'node:path';
import process from 'node:process';
import { cachedEntry, type EntrySpec } from './cache.ts';
import { findOnPath, versionAt } from './on-path.ts';
import { programs, toolNames, type SourceName, type ToolName } from './programs.ts';
import { createReporter, type Reporter } from './progress.ts';
import { installDebian } from './sources/debian.ts';
import { goEntry, goModules } from './sources/go.ts';
import { kubectlLayerEntry } from './sources/kubectl-layer.ts';
import { ToolError } from './tool-error.ts';

/** A program that can be run. */
export interface Tool {
  /** Absolute path of the executable; of the folder for `cni`. */
  readonly path: string;
  readonly version: string;
  /** `path`: it was on PATH. `cache`: made by an earlier call. `built` or `installed`: made by this call. */
  readonly origin: 'path' | 'cache' | 'built' | 'installed';
}

function entryOf(source: Exclude<SourceName, 'debian'>): Promise<EntrySpec> {
  return source === 'kubectl-layer' ? kubectlLayerEntry() : goEntry(goModules[source]);
}

/** Programs that work on Linux only: a node needs its kernel. */
const linuxOnly: readonly ToolName[] = ['kubelet', 'kube-proxy', 'containerd', 'runc', 'cni', 'iptables', 'conntrack'];

function checkNames(names: readonly ToolName[]): void {
  for (const name of names) {
    if (!toolNames.includes(name)) {
      throw new ToolError('INVALID_ARGUMENT', `no such tool; there are ${toolNames.join(', ')}`, { what: name });
    }
    if (process.platform !== 'linux' && linuxOnly.includes(name)) {
      throw new ToolError('UNSUPPORTED_PLATFORM', `needs Linux, this is ${process.platform}`, { what: name });
    }
  }
}

/** The version of an entry's program: the layer's package has a number of its own. */
async function versionOf(name: ToolName, path: string, entry: EntrySpec): Promise<string> {
  if (entry.name !== 'kubectl-layer') return entry.version;
  return (await versionAt(path, name)) ?? entry.version;
}

/**
 * Finds each program on PATH in a version that is known to work, else in the cache, else builds, unpacks or installs
 * it. Safe to call from many processes at once: one builds, the others wait. With all of them there it takes
 * milliseconds.
 *
 * @throws ToolError naming what could not be had and what to do.
 */
export async function ensureTools<N extends ToolName>(
  names: readonly N[],
  reporter: Reporter = createReporter(),
): Promise<Record<N, Tool>> {
  checkNames(names);
  const tools = new Map<ToolName, Tool>();
  for (const [name, found] of await findOnPath(names)) tools.set(name, { ...found, origin: 'path' });

  const missing = Map.groupBy(
    names.filter((name) => !tools.has(name)),
    (name) => programs[name].source,
  );
  for (const [source, wanted] of missing) {
    if (source === 'debian') {
      for (const [name, found] of await installDebian(wanted, reporter))
        tools.set(name, { ...found, origin: 'installed' });
      continue;
    }
    const spec = await entryOf(source);
    const entry = await cachedEntry(spec, reporter);
    for (const name of wanted) {
      const path = join(entry.folder, name);
      tools.set(name, { path, version: await versionOf(name, path, spec), origin: entry.origin });
    }
  }
  return Object.fromEntries(names.map((name) => [name, tools.get(name)])) as Record<N, Tool>;
}
