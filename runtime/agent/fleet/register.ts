/** From bootstrap Secret to credential: ask, wait for the answer. Nothing is stored here but what was asked. */
import { isDeepStrictEqual } from 'node:util';
import type { BootstrapValues } from '../../../api/fleet/bootstrap-values.ts';
import { parseAgentConfig } from '../../../api/fleet/agent-config.ts';
import type { AgentConfig } from '../../../api/fleet/agent-config.ts';
import { configKey, configMapNames, defaults } from '../../../api/fleet/constants.ts';
import { durations } from '../../../api/durations.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { ConfigMaps, Namespaces, Secrets } from '../../../api/kubernetes/core.ts';
import { isApiError } from '../../kube/api-error.ts';
import { isMusterError } from '../../../api/errors.ts';
import { awaitAnswer } from './answer.ts';
import type { Bootstrap } from './bootstrap.ts';
import { type AgentContext, attempt } from './context.ts';
import { type AgentCredential, credentialOf } from './credential.ts';
import { AgentError, isAgentError } from './failure.ts';
import { type Asker, type RememberedRequest, forget, remember, send, toRegistration } from './request.ts';
import { decideTrust } from './trust.ts';

/** What a registration gave, and the bootstrap Secret as it is stored since. */
export interface Registered {
  readonly credential: AgentCredential;
  readonly request: RememberedRequest;
  readonly secret: Secret;
}

/**
 * Registers this cluster with the hub of `bootstrap`, or resumes the request that an earlier run sent for it.
 * @throws AgentError of every step; the same request is resumed by the next call.
 */
export async function register(context: AgentContext, bootstrap: Bootstrap, signal: AbortSignal): Promise<Registered> {
  const { edge } = context;
  const { values } = bootstrap;
  const [config, uid] = await Promise.all([readAgentConfig(context, signal), clusterUid(context, signal)]);
  const clientID = config.clientID || uid;
  const { request, secret } = await attempt(edge, 'edge', () =>
    remember(edge, bootstrap.secret, values, clientID, { signal }),
  );
  const asker = { labels: config.labels ?? {}, podName: context.podName };
  const mode = config.agentTLSMode ?? '';
  const ca = await trustedCa(context, values, mode, signal);
  const ask = async (trusted: string | undefined): Promise<Registered> => {
    const credential = await askHub(context, { values, ca: trusted, request, secret, asker }, signal);
    return { credential, request, secret };
  };
  try {
    return await ask(ca);
  } catch (error) {
    if (mode !== '' || ca === undefined || !isAgentError(error, 'HubUntrusted')) throw error;
    // Nothing was configured and the CA does not fit: the hub may have a publicly trusted certificate.
    const trusted = await trustedCa(context, values, 'system-store', signal);
    if (trusted === ca) throw error;
    return await ask(trusted);
  }
}

/** All that goes into one request. */
interface Question {
  readonly values: BootstrapValues;
  readonly ca: string | undefined;
  readonly request: RememberedRequest;
  readonly secret: Secret;
  readonly asker: Asker;
}

async function askHub(context: AgentContext, question: Question, signal: AbortSignal): Promise<AgentCredential> {
  const { values, ca, request, secret, asker } = question;
  const place = { server: values.apiServerURL, ...(ca === undefined ? {} : { ca }) };
  const hub = context.connect({ ...place, token: values.token, contextName: 'bootstrap' });
  try {
    await attempt(hub, 'request', () => send(hub, toRegistration(request, values, asker), { signal }));
    context.status.enter('registering', `registration sent to ${hub.server}, waiting for the answer`);
    const where = { namespace: values.systemRegistrationNamespace, signal, wake: context.wake };
    const look = () => attempt(hub, 'answer', () => awaitAnswer(hub, request, where));
    let answer = await look();
    while (answer === 'woken') {
      await refuseChanged(context, secret, signal);
      answer = await look();
    }
    if (typeof answer === 'string') throw await notGranted(context, { request, secret, answer, server: hub.server });
    return credentialOf({ ...place, ...answer });
  } finally {
    await hub.close();
  }
}

/** Ends the wait for an answer when the bootstrap Secret says something else now: the next attempt reads it at once. */
async function refuseChanged(context: AgentContext, asked: Secret, signal: AbortSignal): Promise<void> {
  const { namespace = '', name = '' } = asked.metadata;
  const now = await attempt(context.edge, 'edge', () => context.edge.find(Secrets, { namespace, name }, { signal }));
  if (isDeepStrictEqual(now?.data, asked.data)) return;
  context.wake.wake();
  throw new AgentError('BootstrapChanged', 'CONFLICT', 'the bootstrap Secret changed while its request was waiting', {
    where: `Secret ${namespace}/${name}`,
    hint: 'The agent goes on with the new content.',
    retryable: true,
  });
}

/** ConfigMap `fleet-agent`; all defaults when it is not there. */
export async function readAgentConfig(context: AgentContext, signal: AbortSignal): Promise<AgentConfig> {
  const { edge, namespace, logger } = context;
  const key = { namespace, name: configMapNames.agent };
  const map = await attempt(edge, 'edge', () => edge.find(ConfigMaps, key, { signal }));
  try {
    const { config, warnings } = parseAgentConfig(map?.data?.[configKey] ?? '{}');
    for (const warning of warnings) logger.warn({ configMap: `${namespace}/${key.name}` }, warning);
    return config;
  } catch (error) {
    throw new AgentError('ConfigInvalid', 'INVALID_ARGUMENT', error instanceof Error ? error.message : String(error), {
      where: `ConfigMap ${namespace}/${key.name}`,
      cause: error,
    });
  }
}

/** The identity of a cluster that was given none: the UID of a namespace that lives as long as the cluster. */
async function clusterUid(context: AgentContext, signal: AbortSignal): Promise<string> {
  const key = { name: defaults.clientIdNamespace };
  const { metadata } = await attempt(context.edge, 'edge', () => context.edge.get(Namespaces, key, { signal }));
  return metadata.uid ?? '';
}

/** @throws AgentError as decideTrust, and of the probe. */
export async function trustedCa(
  context: AgentContext,
  values: Pick<BootstrapValues, 'apiServerURL' | 'apiServerCA'>,
  mode: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const input = { server: values.apiServerURL, ca: values.apiServerCA, mode };
  return await decideTrust(input, async (server, roots) => {
    const anonymous = context.connect({ server, ca: roots, contextName: 'probe' });
    try {
      await attempt(anonymous, 'request', () => handshake(() => anonymous.raw('/', { signal })));
    } finally {
      await anonymous.close();
    }
  });
}

/** Any answer at all, even a refusal, means that the certificate was accepted. */
async function handshake(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isApiError(error) && !isMusterError(error, 'NOT_KUBERNETES')) throw error;
  }
}

/** The request stays the one to resume, unless its answer can only have come and gone. */
async function notGranted(
  context: AgentContext,
  seen: { request: RememberedRequest; secret: Secret; answer: 'unreadable' | 'absent'; server: string },
): Promise<AgentError> {
  const age = Date.now() - Date.parse(seen.request.createdAt);
  const limit = seen.answer === 'absent' ? durations.registrationSecretLifetime : durations.agentRequestAbandon;
  if (age > limit) await attempt(context.edge, 'edge', () => forget(context.edge, seen.secret));
  return new AgentError('NotGranted', 'TIMEOUT', 'the hub has the registration but has not answered it', {
    where: seen.server,
    hint: 'Check that the hub’s controller runs, and the conditions and Events of the ClusterRegistration there.',
    retryable: true,
  });
}
