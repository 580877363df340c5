/** A downstream cluster, and the process of either agent in it, under the agent's own ServiceAccount. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import { bootstrapSecretData } from '../../api/fleet/bootstrap-values.ts';
import { agentNames, configMapNames, secretNames } from '../../api/fleet/constants.ts';
import type { Secret } from '../../api/kubernetes/core.ts';
import { ConfigMaps, Secrets, ServiceAccounts } from '../../api/kubernetes/core.ts';
import type { Deployment } from '../../api/kubernetes/workloads.ts';
import { Deployments, Leases } from '../../api/kubernetes/workloads.ts';
import type { ResourceType } from '../../api/resource.ts';
import { synthAgent } from '../../components/fleet/index.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { repositoryRoot } from '../../tools/repository.ts';
import { ControlPlane, ManagedProcess, poll } from '../harness/index.ts';
import { applyAll } from '../support/hub-plane.ts';
import { fleetAgentManifests, systemNamespace as namespace } from './fleet-manifests.ts';
import { programs } from './programs.ts';

export type AgentKind = 'fleet' | 'muster';

const commands: Record<AgentKind, readonly string[]> = {
  fleet: [programs.agent],
  muster: [process.execPath, join(repositoryRoot, 'dist', 'bin', 'muster.cjs'), 'agent'],
};

/** Shorter than in life, so that a takeover after a crash takes 15 s and not 30 s. */
const election = {
  CATTLE_ELECTION_LEASE_DURATION: '15s',
  CATTLE_ELECTION_RENEW_DEADLINE: '10s',
  CATTLE_ELECTION_RETRY_PERIOD: '2s',
};

/** How a user installs an agent of that kind by token. */
export interface Installation {
  readonly clientID: string;
  readonly labels?: Record<string, string>;
}

export class InteropEdge {
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  readonly #agents: ManagedProcess[] = [];
  readonly #players: AbortController[] = [];
  readonly #failures: string[] = [];
  #started = 0;

  static async start(name = 'edge', controllerManagerArgs: readonly string[] = []): Promise<InteropEdge> {
    const plane = await ControlPlane.start({ name, controllerManagerArgs });
    return new InteropEdge(plane);
  }

  private constructor(plane: ControlPlane) {
    this.plane = plane;
    this.client = plane.client();
  }

  /** Applies what a user applies to register by token: the agent's manifests with the values of the token. */
  async install(kind: AgentKind, values: BootstrapValues, { clientID, labels = {} }: Installation): Promise<void> {
    const manifests =
      kind === 'fleet'
        ? await fleetAgentManifests(values, { clientID, labels })
        : synthAgent({ image: 'muster:test', bootstrap: values, clientID, labels });
    await applyAll(this.client, manifests);
  }

  /** Only the bootstrap Secret, as somebody does who renews it. */
  async bootstrap(values: BootstrapValues): Promise<void> {
    const metadata = { name: secretNames.bootstrap, namespace };
    const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data: bootstrapSecretData(values) };
    await this.client.apply(Secrets, secret, { fieldManager: 'test' });
  }

  /**
   * Starts an agent as the ServiceAccount that the manifests made. `pod` is its name: the same as before is the same
   * container restarted, another one is another pod, which waits for the lease.
   */
  async startAgent(kind: AgentKind, options: { pod?: string; checkin?: string } = {}): Promise<ManagedProcess> {
    const { pod = `fleet-agent-${kind}`, checkin = '15m' } = options;
    const account = { namespace, name: agentNames.serviceAccount };
    await poll(() => this.client.find(ServiceAccounts, account), { what: 'the ServiceAccount of the agent' });
    const { token } = await this.client.createToken(account, { expirationSeconds: 24 * 3600 });
    const kubeconfig = join(this.plane.dir, 'agent.kubeconfig');
    writeFileSync(kubeconfig, this.plane.kubeconfigFor({ token }), { mode: 0o600 });
    const [command = '', ...args] = commands[kind];
    const agent = await ManagedProcess.start({
      name: `${kind} agent ${++this.#started}`,
      command,
      args: [...args, '--kubeconfig', kubeconfig, '--namespace', namespace],
      logFile: join(this.plane.dir, `agent-${this.#started}.log`),
      env: {
        NAMESPACE: namespace,
        AGENT_SCOPE: '',
        CHECKIN_INTERVAL: checkin,
        ...election,
        BUNDLEDEPLOYMENT_RECONCILER_WORKERS: '50',
        DRIFT_RECONCILER_WORKERS: '50',
        FLEET_AGENT_PPROF_DISABLED: 'true',
        FLEET_AGENT_METRICS_BIND_ADDRESS: '0',
        FLEET_AGENT_PROBE_BIND_ADDRESS: '0',
        POD_NAME: pod,
        HOSTNAME: pod,
      },
    });
    this.#agents.push(agent);
    return agent;
  }

  /**
   * Does what nodes would do with the Deployment `fleet-agent`: an agent runs while it is there, and a new one, as the
   * account that is there then, when it or its pods change. Without `kind`: the agent that its command names. Until
   * {@link clean}.
   */
  runDeployed(kind?: AgentKind, options: { checkin?: string } = {}): void {
    const playing = new AbortController();
    this.#players.push(playing);
    const { signal } = playing;
    const place = { namespace, fieldSelector: `metadata.name=${agentNames.deployment}` };
    let deployed: string | undefined;
    const follow = async (deployment: Deployment | undefined): Promise<void> => {
      const template = deployment && JSON.stringify([deployment.metadata.uid, deployment.spec.template]);
      if (template === deployed || signal.aborted) return;
      deployed = template;
      await Promise.all(this.#agents.map((agent) => agent.stop()));
      if (deployment === undefined) return;
      const pod = `fleet-agent-${deployment.metadata.uid ?? ''}`;
      await this.startAgent(kind ?? kindOf(deployment), { ...options, pod });
    };
    const play = async (): Promise<void> => {
      const { items, resourceVersion } = await this.client.list(Deployments, place);
      await follow(items[0]);
      for await (const event of this.client.watch(Deployments, { ...place, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        await follow(event.type === 'DELETED' ? undefined : event.object);
      }
    };
    play().catch((error: unknown) => {
      if (!signal.aborted) this.#failures.push(String(error));
    });
  }

  /** The credential that an agent has stored. */
  async credential(): Promise<Secret | undefined> {
    return await this.client.find(Secrets, { namespace, name: secretNames.agent });
  }

  async bootstrapSecret(): Promise<Secret | undefined> {
    return await this.client.find(Secrets, { namespace, name: secretNames.bootstrap });
  }

  async loseCredential(): Promise<void> {
    await this.client.delete(Secrets, { namespace, name: secretNames.agent });
  }

  /** Ends every agent and removes what one would find of the others. */
  async clean(): Promise<void> {
    for (const playing of this.#players.splice(0)) playing.abort();
    await Promise.all(this.#agents.splice(0).map((agent) => agent.kill()));
    const named: readonly (readonly [ResourceType, string])[] = [
      [Secrets, secretNames.agent],
      [Secrets, secretNames.bootstrap],
      [ConfigMaps, configMapNames.agent],
      [Leases, agentNames.lease],
      [Deployments, agentNames.deployment],
    ];
    for (const [type, name] of named) await this.client.delete(type, { namespace, name });
  }

  logs(): string {
    const ends = this.#agents.map((agent) => `--- ${agent.name}\n${agent.logTail(25)}`);
    return [...this.#failures, ...ends].join('\n');
  }

  async close(): Promise<void> {
    for (const playing of this.#players.splice(0)) playing.abort();
    await Promise.all(this.#agents.splice(0).map((agent) => agent.kill()));
    await this.client.close();
    await this.plane.close();
  }
}

/** Whose program the pods of a Deployment run. */
function kindOf({ spec }: Deployment): AgentKind {
  const { containers = [] } = spec.template.spec as { containers?: { command?: string[] }[] };
  return containers[0]?.command?.[0] === 'fleetagent' ? 'fleet' : 'muster';
}

/** Holds when nothing happens for a while: for what must not be done there is nothing to wait for. */
export async function stays<T>(look: () => Promise<T>, ms: number): Promise<T> {
  await pause(ms);
  return await look();
}
