/**
 * What a registered agent is to its hub, without an edge: the agent's own functions, many of them in one process. Each
 * has connections of its own, which idle ones lose, as those of separate processes do.
 */
import { durations } from '../../api/durations.ts';
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { defaults } from '../../api/fleet/constants.ts';
import { randomToken } from '../../api/fleet/names.ts';
import { ServiceAccounts } from '../../api/kubernetes/core.ts';
import { type Answer, awaitAnswer } from '../../runtime/agent/fleet/answer.ts';
import { heartbeatDelay, sendHeartbeat } from '../../runtime/agent/fleet/heartbeat.ts';
import { readClaims, serviceAccountOf } from '../../runtime/kube/token-claims.ts';
import type { RememberedRequest } from '../../runtime/agent/fleet/request.ts';
import { send, toRegistration } from '../../runtime/agent/fleet/request.ts';
import { isApiError } from '../../runtime/kube/api-error.ts';
import { pause } from '../../runtime/kube/backoff.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { createClient } from '../../runtime/kube/create-client.ts';

/** Longest wait of one agent for its answer, and for rights that land after it. */
const limitMs = 600_000;

const facts = { kubernetesVersion: 'v1.36.3', nodes: 3 };

export class SimulatedAgent {
  readonly #hub: KubeClient;
  readonly #answer: Answer;

  /** Registers, and sends the first heartbeat. */
  static async register(values: BootstrapValues, clientID: string, signal: AbortSignal): Promise<SimulatedAgent> {
    const createdAt = new Date().toISOString();
    const request: RememberedRequest = { clientID, clientRandom: randomToken(), createdAt, for: '' };
    const bootstrap = connectAgent(values, values.token);
    try {
      await send(bootstrap, toRegistration(request, values, { labels: { bench: 'true' }, podName: 'bench' }), {
        signal,
      });
      const place = { namespace: values.systemRegistrationNamespace, signal, deadlineMs: limitMs };
      const answer = await awaitAnswer(bootstrap, request, place);
      if (typeof answer === 'string') throw new Error(`no answer to ${clientID}: ${answer}`);
      const agent = new SimulatedAgent(connectAgent(values, answer.token), answer);
      await agent.#confirm(signal);
      return agent;
    } finally {
      await bootstrap.close();
    }
  }

  private constructor(hub: KubeClient, answer: Answer) {
    this.#hub = hub;
    this.#answer = answer;
  }

  async beat(signal: AbortSignal): Promise<void> {
    const { clusterNamespace: namespace, clusterName: name } = this.#answer;
    await sendHeartbeat(
      this.#hub,
      { cluster: { namespace, name }, agentNamespace: defaults.agentNamespace, facts },
      { signal },
    );
  }

  /** Heartbeats until the signal aborts, the first at a random time within the interval. */
  async keepBeating(intervalMs: number, signal: AbortSignal): Promise<void> {
    await pause(Math.random() * intervalMs, signal);
    for (;;) {
      await this.beat(signal);
      await pause(heartbeatDelay(intervalMs), signal);
    }
  }

  /** The agent's one watch on the hub, of its own account, until the signal aborts or the hub gives no such right. */
  async keepListening(signal: AbortSignal): Promise<void> {
    const { namespace = '', name = '' } = serviceAccountOf(readClaims(this.#answer.token)) ?? {};
    const place = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion: '0', signal };
    for (;;) {
      try {
        for await (const _ of this.#hub.watch(ServiceAccounts, place));
      } catch (error) {
        if (signal.aborted || isApiError(error, 401, 403, 404)) return;
      }
      await pause(Math.random() * durations.watchRetryLast, signal);
    }
  }

  async close(): Promise<void> {
    await this.#hub.close();
  }

  /** As the agent's own first heartbeat: what is refused is tried again, as rights may land after the credential. */
  async #confirm(signal: AbortSignal): Promise<void> {
    const end = performance.now() + limitMs;
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 1.5, 5_000)) {
      try {
        return await this.beat(signal);
      } catch (error) {
        if (!isApiError(error, 401, 403, 404) || performance.now() > end) throw error;
      }
      await pause(delayMs, signal);
    }
  }
}

/** Connections of one agent's own. */
export function connectAgent(values: BootstrapValues, token: string): KubeClient {
  const { apiServerURL: server, apiServerCA: ca } = values;
  return createClient(
    { server, ca, token, contextName: 'agent' },
    { userAgent: 'muster-bench-agent', maxConnections: 1 },
  );
}
