import { createHash } from 'node:crypto';
import { copyFile, link, mkdir, mkdtemp, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import process from 'node:process';
import { cacheDir } from './cache.ts';
import { ensureTools } from './ensure-tools.ts';
import type { Reporter } from './progress.ts';
import { npmBinFolder, repositoryRoot } from './repository.ts';

/** Options of {@link pulumiEnvironment}. */
export interface PulumiEnvironmentOptions {
  /** Folder of the file backend. Default: the caller logs in or sets PULUMI_BACKEND_URL. */
  readonly backend?: string;
  /** Folder for plugins and workspaces (PULUMI_HOME). Default: the caller sets it. */
  readonly home?: string;
  /** Encrypts the secrets of the state (PULUMI_CONFIG_PASSPHRASE). Default: the caller sets it. */
  readonly passphrase?: string;
  /** With the provider of @pulumi/kubernetes, which takes minutes to build where it was never built. Default: false. */
  readonly kubernetes?: boolean;
  readonly reporter?: Reporter;
}

/**
 * The environment in which `pulumi` runs a Node.js program of this repository without asking the network: the engine,
 * the language host, the provider of dynamic resources (a script inside @pulumi/pulumi) and Node.js 24 first on PATH.
 */
export async function pulumiEnvironment(options: PulumiEnvironmentOptions = {}): Promise<Record<string, string>> {
  const helpers = options.kubernetes ? (['pulumi-resource-kubernetes'] as const) : [];
  const tools = await ensureTools(['pulumi', 'pulumi-language-nodejs', ...helpers], options.reporter);
  const resources = join(repositoryRoot, 'node_modules', '@pulumi', 'pulumi', 'pulumi-resource-pulumi-nodejs');
  const programs = [...Object.values(tools).map(({ path }) => path), resources];
  const path = [await sideBySide(programs), npmBinFolder, process.env.PATH ?? ''];
  const inherited = Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return {
    ...Object.fromEntries(inherited),
    PATH: path.join(delimiter),
    PULUMI_SKIP_UPDATE_CHECK: 'true',
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: 'true',
    ...(options.backend === undefined ? {} : { PULUMI_BACKEND_URL: `file://${options.backend}` }),
    ...(options.home === undefined ? {} : { PULUMI_HOME: options.home }),
    ...(options.passphrase === undefined ? {} : { PULUMI_CONFIG_PASSPHRASE: options.passphrase }),
  };
}

/**
 * A folder with all of the programs, under the names they have. Helpers beside the engine are its own; ones that it finds
 * on PATH it warns about, several times in every run. Links, so it costs nothing; made once for each set of programs.
 */
async function sideBySide(programs: readonly string[]): Promise<string> {
  const found = await Promise.all(programs.map(async (path) => ({ path, ...(await identity(path)) })));
  const digest = createHash('sha256').update(JSON.stringify(found)).digest('hex').slice(0, 12);
  const folder = join(cacheDir(), `pulumi-with-helpers-${digest}`);
  if (await stat(folder).catch(() => undefined)) return folder;
  await mkdir(cacheDir(), { recursive: true });
  const made = await mkdtemp(`${folder}-`);
  for (const { path } of found) {
    const target = join(made, basename(path));
    await link(await realpath(path), target).catch(() => copyFile(path, target));
  }
  // Whoever is second keeps the first one's.
  await rename(made, folder).catch(() => rm(made, { recursive: true, force: true }));
  return folder;
}

async function identity(path: string): Promise<{ size: number; changed: number }> {
  const { size, mtimeMs } = await stat(path);
  return { size, changed: mtimeMs };
}
