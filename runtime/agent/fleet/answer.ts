/** Waiting for the hub's answer: the Secret `c-…`, which the bootstrap token may only GET, by a name only we know. */
import { secretKeys } from '../../../api/fleet/constants.ts';
import { registrationSecretName } from '../../../api/fleet/names.ts';
import type { Secret } from '../../../api/kubernetes/core.ts';
import { Secrets } from '../../../api/kubernetes/core.ts';
import { durations } from '../../../api/durations.ts';
import { isApiError, isForbidden } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { AgentError } from './failure.ts';
import type { RememberedRequest } from './request.ts';
import { Wake } from './wake.ts';

/** The hub's answer. */
export interface Answer {
  readonly token: string;
  readonly clusterNamespace: string;
  readonly clusterName: string;
  readonly deploymentNamespace: string;
}

/** Options of {@link awaitAnswer}. */
export interface AwaitOptions {
  /** Namespace on the hub that answers registrations. */
  readonly namespace: string;
  readonly signal: AbortSignal;
  /** Default: `durations.agentGrantDeadline`. */
  readonly deadlineMs?: number;
  /** Ends the wait early with `woken`. */
  readonly wake?: Wake;
}

/**
 * Pause before the next look at a request of this age: a quarter of the age, between the two bounds, ± 20 %. So a
 * prompt hub is noticed within a quarter of its own time, and agents that wait for days do not load it. A hub of Fleet
 * sleeps for two seconds before it answers: there the looks lie close.
 */
export function pollDelay(ageMs: number, random: () => number = Math.random): number {
  const { agentGrantPollFirst: first, agentGrantPollLast: last } = durations;
  const { fleetAnswersFrom: from, fleetAnswersTo: to, fleetAnswersPoll: close } = durations;
  const jitter = 0.8 + 0.4 * random();
  const pace = Math.min(Math.max(ageMs / 4, first), last) * jitter;
  if (ageMs >= to || ageMs + pace <= from) return pace;
  return ageMs < from ? from - ageMs + close * random() : close * jitter;
}

/**
 * The answer, once it is there with a token in it. 403 (no Role yet), 404 (no Secret yet) and a Secret without a token
 * mean: not yet. At the deadline: `unreadable` when the last look was refused, `absent` when it could have been read,
 * had it been there; for an old request that means that it was made and removed again.
 * Throws ApiError and MusterError of any other refusal or fault.
 */
export async function awaitAnswer(
  hub: KubeClient,
  request: RememberedRequest,
  options: AwaitOptions,
): Promise<Answer | 'unreadable' | 'absent' | 'woken'> {
  const { namespace, signal, wake = new Wake() } = options;
  const key = { namespace, name: registrationSecretName(request.clientID, request.clientRandom) };
  const born = Date.parse(request.createdAt);
  const end = performance.now() + (options.deadlineMs ?? durations.agentGrantDeadline);
  for (;;) {
    let seen: 'unreadable' | 'absent' = 'absent';
    try {
      const answer = readAnswer(await hub.get(Secrets, key, { signal }), hub.server);
      if (answer !== undefined) return answer;
    } catch (error) {
      if (!isApiError(error, 403, 404)) throw error;
      if (isForbidden(error)) seen = 'unreadable';
    }
    if (performance.now() >= end) return seen;
    const outcome = await wake.wait(pollDelay(Date.now() - born), signal);
    signal.throwIfAborted();
    if (outcome === 'woken') return 'woken';
  }
}

/** The answer in `secret`; `undefined` while it has no token. */
export function readAnswer(secret: Secret, server: string): Answer | undefined {
  const field = (key: string): string => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
  const answer = {
    token: field(secretKeys.token),
    clusterNamespace: field(secretKeys.clusterNamespace),
    clusterName: field(secretKeys.clusterName),
    deploymentNamespace: field(secretKeys.deploymentNamespace),
  };
  if (answer.token === '') return undefined;
  const missing = Object.entries(answer).filter(([, value]) => value === '');
  if (missing.length === 0) return answer;
  const names = missing.map(([name]) => name).join(', ');
  throw new AgentError('AnswerInvalid', 'UNSUPPORTED', `the hub's answer has no ${names}`, {
    where: server,
    hint: 'This is not a hub that speaks the Fleet registration protocol of 0.9 and later.',
  });
}
