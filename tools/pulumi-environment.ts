import { dirname, delimiter, join } from 'node:path';
import process from 'node:process';
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
  readonly reporter?: Reporter;
}

/**
 * The environment in which `pulumi` runs a Node.js program of this repository without asking the network: the engine,
 * the language host, the provider of dynamic resources (a script inside @pulumi/pulumi) and Node.js 24 first on PATH.
 */
export async function pulumiEnvironment(options: PulumiEnvironmentOptions = {}): Promise<Record<string, string>> {
  const { pulumi, 'pulumi-language-nodejs': language } = await ensureTools(
    ['pulumi', 'pulumi-language-nodejs'],
    options.reporter,
  );
  const path = [
    dirname(pulumi.path),
    dirname(language.path),
    join(repositoryRoot, 'node_modules', '@pulumi', 'pulumi'),
    npmBinFolder,
    process.env.PATH ?? '',
  ];
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
