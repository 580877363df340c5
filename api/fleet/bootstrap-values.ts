/**
 * What an agent needs to register: the values Secret of a token on the hub (one key `values`, a helm values file) and
 * the Secret `fleet-agent-bootstrap` at the edge (flat keys). All of it is secret; no error here quotes a value.
 */
import { parse, stringify } from 'yaml';
import { MusterError } from '../errors.ts';
import type { Secret } from '../kubernetes/core.ts';
import { keyOf } from '../resource.ts';
import { defaults, secretKeys } from './constants.ts';

export interface BootstrapValues {
  /** Namespace of the hub that the cluster is registered into. */
  readonly clusterNamespace: string;
  /** Address of the hub as the agent sees it. */
  readonly apiServerURL: string;
  /** Certificates that sign it, PEM text; empty when the system trusts it. */
  readonly apiServerCA: string;
  /** Token of the ServiceAccount of the ClusterRegistrationToken. */
  readonly token: string;
  /** Name of the ClusterRegistrationToken; empty in values of hubs before 0.16. */
  readonly tokenName: string;
  /** Namespace of the hub where the request is answered. */
  readonly systemRegistrationNamespace: string;
  /** Namespace that the agent runs in. Default: cattle-fleet-system. */
  readonly systemNamespace?: string;
}

/** Keys of every token's values, in the order that Fleet writes them. */
export const bootstrapKeys = [
  'apiServerCA',
  'apiServerURL',
  'clusterNamespace',
  'systemRegistrationNamespace',
  'token',
  'tokenName',
] as const satisfies readonly (keyof BootstrapValues)[];

/** These may be empty. */
const optional: readonly string[] = ['apiServerCA', 'tokenName'];

/** The YAML of a token's values Secret, ready to be given to the agent's helm chart; equal values give equal texts. */
export function formatValues(values: BootstrapValues): string {
  const moved = values.systemNamespace !== undefined && values.systemNamespace !== defaults.systemNamespace;
  return stringify(
    {
      ...Object.fromEntries(bootstrapKeys.map((key) => [key, values[key]])),
      ...(moved ? { internal: { systemNamespace: values.systemNamespace } } : {}),
    },
    // Helm reads YAML 1.1, where a token called `on` or `012` would be no text unless it is quoted.
    { lineWidth: 0, compat: 'yaml-1.1' },
  );
}

/**
 * Reads the YAML of {@link formatValues}, of Fleet, or as a user wrote it.
 * @throws MusterError INVALID_ARGUMENT naming the keys that are missing or not texts
 */
export function parseValues(text: string, where = 'values'): BootstrapValues {
  let value: unknown;
  try {
    // a warning would print the line that it is about, which may be the one with the token
    value = parse(text, { logLevel: 'error' });
  } catch {
    // The parser's message quotes lines of the text, which holds a token.
    throw new MusterError('INVALID_ARGUMENT', 'the values are not YAML', { where, hint: copyHint });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MusterError('INVALID_ARGUMENT', 'the values are not a YAML object', { where, hint: copyHint });
  }
  const given = value as Record<string, unknown>;
  const internal = given['internal'];
  const systemNamespace =
    typeof internal === 'object' && internal !== null && 'systemNamespace' in internal
      ? internal.systemNamespace
      : undefined;
  return check({ ...given, systemNamespace }, where);
}

/** Data of the Secret `fleet-agent-bootstrap`: flat keys, values in base64. */
export function bootstrapSecretData(values: BootstrapValues): Record<string, string> {
  return Object.fromEntries(bootstrapKeys.map((key) => [key, Buffer.from(values[key]).toString('base64')]));
}

/**
 * Reads a bootstrap Secret with flat keys, or with the one key `values` that holds the YAML.
 * @throws MusterError INVALID_ARGUMENT naming the Secret and the keys that are missing
 */
export function readBootstrapSecret(secret: Secret): BootstrapValues {
  const where = `Secret ${keyOf(secret)}`;
  const data = Object.entries(secret.data ?? {}).map(([key, value]): [string, string] => [
    key,
    Buffer.from(value, 'base64').toString(),
  ]);
  const texts = Object.fromEntries(data);
  const values = texts[secretKeys.values];
  return values === undefined ? check(texts, where) : parseValues(values, where);
}

const copyHint =
  'Copy the values once more from the Secret that status.secretName of the ClusterRegistrationToken names.';

function check(given: Readonly<Record<string, unknown>>, where: string): BootstrapValues {
  const wrong = bootstrapKeys.filter((key) => {
    const value = given[key];
    return optional.includes(key) && (value === undefined || value === null)
      ? false
      : typeof value !== 'string' || (value === '' && !optional.includes(key));
  });
  if (wrong.length > 0) {
    throw new MusterError('INVALID_ARGUMENT', `missing or not a text: ${wrong.join(', ')}`, { where, hint: copyHint });
  }
  const text = (key: string): string => (typeof given[key] === 'string' ? given[key] : '');
  const systemNamespace = text('systemNamespace');
  return {
    clusterNamespace: text('clusterNamespace').trim(),
    apiServerURL: text('apiServerURL').trim(),
    apiServerCA: text('apiServerCA'),
    token: text('token').trim(),
    tokenName: text('tokenName').trim(),
    systemRegistrationNamespace: text('systemRegistrationNamespace').trim(),
    ...(systemNamespace === '' ? {} : { systemNamespace }),
  };
}
