/** Provider-style configuration: stack configuration first, environment second, nothing ambient. */
import { existsSync, readFileSync } from 'node:fs';
import { MusterError } from '../api/errors.ts';

/** Stack configuration keys. */
export const configKeys = {
  /** Kubeconfig of the hub, text or path of a file. Set it with `pulumi config set --secret`. */
  hubKubeconfig: 'muster:hubKubeconfig',
  /** Context of that kubeconfig. Default: its current context. */
  hubContext: 'muster:hubContext',
} as const;

/** Environment variables used where the stack configuration says nothing. */
export const configEnvironment = {
  hubKubeconfig: 'MUSTER_HUB_KUBECONFIG',
  hubContext: 'MUSTER_HUB_CONTEXT',
} as const;

/** How to reach a cluster: the whole of a kubeconfig, and which of its contexts. A secret. */
export interface Connection {
  readonly kubeconfig: string;
  readonly context?: string | undefined;
}

/** What was configured outside of the resources. */
export interface Configuration {
  /** The hub of every resource that names none itself. */
  readonly hub?: Connection;
}

/** Reads the configuration. `get` is asked for full keys such as `muster:hubKubeconfig`. */
export function readConfiguration(
  get: (key: string) => string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Configuration {
  const kubeconfig = get(configKeys.hubKubeconfig) ?? env[configEnvironment.hubKubeconfig];
  if (!kubeconfig) return {};
  const context = get(configKeys.hubContext) ?? env[configEnvironment.hubContext];
  return { hub: { kubeconfig, ...(context ? { context } : {}) } };
}

/**
 * The hub of a resource: its own input, else the configuration.
 * @throws MusterError INVALID_ARGUMENT naming every place where it can be given.
 */
export function hubOf(inputs: { readonly hub?: Connection | undefined }, configuration: Configuration): Connection {
  const hub = inputs.hub ?? configuration.hub;
  if (hub !== undefined) return hub;
  throw new MusterError('INVALID_ARGUMENT', 'no hub is given', {
    where: 'hub',
    hint:
      `Set the input hub.kubeconfig, or run: pulumi config set --secret ${configKeys.hubKubeconfig} < KUBECONFIG, ` +
      `or set ${configEnvironment.hubKubeconfig}.`,
  });
}

/** A kubeconfig is given as its text, or as the path of a file (one line that names one). */
export function kubeconfigText(value: string): string {
  const oneLine = value.trim();
  if (oneLine.includes('\n') || oneLine.startsWith('{') || !existsSync(oneLine)) return value;
  return readFileSync(oneLine, 'utf8');
}
