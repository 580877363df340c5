/** What the long-running commands share: flags, the way to the API server, signals, exit codes. */
import { parseArgs } from 'node:util';
import { MusterError } from '../api/errors.ts';
import { defaults } from '../api/fleet/constants.ts';
import type { ClientConfig } from '../runtime/kube/client-config.ts';
import { inClusterConfig, isInCluster } from '../runtime/kube/in-cluster.ts';
import { loadKubeconfigFile } from '../runtime/kube/kubeconfig.ts';
import { textOf } from './env.ts';
import type { Env } from './env.ts';
import { describeFailure } from './failure.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Flags of `muster hub` and `muster agent`. */
export interface ProcessFlags {
  readonly kubeconfig?: string;
  readonly namespace?: string;
  readonly help: boolean;
}

/** Throws INVALID_ARGUMENT for an unknown flag or argument. */
export function parseFlags(command: string, argv: readonly string[]): ProcessFlags {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        kubeconfig: { type: 'string' },
        namespace: { type: 'string', short: 'n' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split('. ')[0] ?? '') : 'bad arguments';
    throw new MusterError('INVALID_ARGUMENT', message, { hint: `See muster ${command} --help.`, cause });
  }
}

/** `--kubeconfig`, else the pod's own identity, else KUBECONFIG. Throws INVALID_KUBECONFIG when there is none. */
export function connection(flags: ProcessFlags, env: Env): ClientConfig {
  if (flags.kubeconfig !== undefined) return loadKubeconfigFile(flags.kubeconfig);
  if (isInCluster(env) || textOf(env, 'KUBECONFIG') === undefined) return inClusterConfig(env);
  return loadKubeconfigFile();
}

/** `--namespace`, else NAMESPACE, else that of the pod or kubeconfig context, else Fleet's default. */
export function namespaceOf(flags: ProcessFlags, env: Env, config: ClientConfig): string {
  return flags.namespace ?? textOf(env, 'NAMESPACE') ?? config.namespace ?? defaults.systemNamespace;
}

/** The parts of `process` that {@link runUntilSignal} uses; another one in tests. */
export type SignalSource = Pick<NodeJS.EventEmitter, 'on' | 'removeListener'>;

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs `start` and ends it at the first SIGINT or SIGTERM. Returns the exit code: 0 after a clean end, 1 after a
 * failure, of which one line is printed. A second signal does not wait any longer: 130.
 */
export async function runUntilSignal(
  start: (signal: AbortSignal) => Promise<void>,
  source: SignalSource = process,
  print: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<number> {
  const stop = new AbortController();
  const impatient = Promise.withResolvers<number>();
  const onSignal = (): void => {
    if (stop.signal.aborted) impatient.resolve(130);
    else stop.abort(new Error('stopped by a signal'));
  };
  for (const name of signals) source.on(name, onSignal);
  try {
    const ended = start(stop.signal).then(
      () => 0,
      (error: unknown) => {
        // A part that rejects with the reason of the abort has done as it was told.
        if (stop.signal.aborted && error === stop.signal.reason) return 0;
        print(describeFailure(error));
        return 1;
      },
    );
    return await Promise.race([ended, impatient.promise]);
  } finally {
    for (const name of signals) source.removeListener(name, onSignal);
  }
}
