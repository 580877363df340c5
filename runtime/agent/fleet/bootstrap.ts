/** Secret `fleet-agent-bootstrap`: how a cluster is told where its hub is, and with which token to ask. */
import { isDeepStrictEqual } from 'node:util';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { readBootstrapSecret } from '../../../api/fleet/bootstrap-values.ts';
import { annotations, secretNames } from '../../../api/fleet/constants.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { isConflict } from '../../kube/api-error.ts';
import { type AgentContext, attempt } from './context.ts';
import { AgentError, toAgentError } from './failure.ts';

/** The Secret and what it says. */
export interface Bootstrap {
  readonly secret: Secret;
  readonly values: BootstrapValues;
}

/**
 * The bootstrap Secret as it is now; `undefined` when there is none.
 * @throws AgentError BootstrapInvalid when it cannot be used, EdgeUnavailable.
 */
export async function readBootstrap(context: AgentContext, signal: AbortSignal): Promise<Bootstrap | undefined> {
  const { edge, namespace } = context;
  const secret = await attempt(edge, 'edge', () =>
    edge.find(Secrets, { namespace, name: secretNames.bootstrap }, { signal }),
  );
  return secret === undefined ? undefined : parseBootstrap(secret);
}

/** @throws AgentError BootstrapInvalid naming what is missing. */
export function parseBootstrap(secret: Secret): Bootstrap {
  try {
    const values = readBootstrapSecret(secret);
    checkCa(values.apiServerCA);
    return { secret, values: { ...values, apiServerURL: serverUrl(values.apiServerURL) } };
  } catch (error) {
    throw new AgentError(
      'BootstrapInvalid',
      'INVALID_ARGUMENT',
      error instanceof Error ? error.message : String(error),
      {
        where: `Secret ${secret.metadata.namespace ?? ''}/${secret.metadata.name ?? ''}`,
        cause: error,
        hint: 'Apply the values that the hub made for the token, unchanged; the agent sees them at once.',
      },
    );
  }
}

function checkCa(text: string): void {
  if (text.trim() === '' || text.includes('-----BEGIN CERTIFICATE-----')) return;
  throw new Error('apiServerCA must be a PEM certificate, or empty');
}

function serverUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'https:') return text.replace(/\/+$/, '');
  throw new Error('apiServerURL must be an https address such as https://hub.example.com:6443');
}

/**
 * Removes a bootstrap Secret that has served, unless its content is another than the one that was read, or it is to be
 * kept: who declares it would only make it again.
 */
export async function discardBootstrap(context: AgentContext, served: Secret, signal: AbortSignal): Promise<void> {
  const { edge } = context;
  const { namespace = '', name = '' } = served.metadata;
  if (served.metadata.annotations?.[annotations.keep] === 'true') return;
  for (let secret: Secret | undefined = served; isDeepStrictEqual(secret?.data, served.data);) {
    const { uid = '', resourceVersion = '' } = secret?.metadata ?? {};
    try {
      await edge.delete(Secrets, { namespace, name }, { preconditions: { uid, resourceVersion }, signal });
      return;
    } catch (error) {
      if (!isConflict(error)) throw toAgentError(error, 'edge', edge.server);
    }
    // Someone wrote to it meanwhile. The same content again (GitOps tools do that) has served as well.
    secret = await attempt(edge, 'edge', () => edge.find(Secrets, { namespace, name }, { signal }));
    if (secret === undefined) return;
  }
}

/** What to tell when there is neither a credential nor a way to get one. */
export function bootstrapMissing(namespace: string): AgentError {
  return new AgentError('BootstrapMissing', 'NOT_FOUND', 'this cluster is not registered and was given no token', {
    where: `Secret ${namespace}/${secretNames.bootstrap}`,
    hint: 'Make a ClusterRegistrationToken on the hub and apply its values here as this Secret; the agent sees it at once.',
  });
}
