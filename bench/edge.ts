/** A downstream cluster, and an agent process in it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { BootstrapValues } from '../api/fleet/bootstrap-values.ts';
import { agentNames } from '../api/fleet/constants.ts';
import { Namespaces, ServiceAccounts } from '../api/kubernetes/core.ts';
import { Deployments } from '../api/kubernetes/workloads.ts';
import { resourceTypeOf, synthAgent } from '../components/fleet/index.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import { ControlPlane, poll } from '../test/harness/index.ts';
import { ManagedProcess } from '../test/harness/managed-process.ts';
import { muster, systemNamespace as namespace } from './target.ts';

const image = 'muster:bench';

export class Edge {
  readonly plane: ControlPlane;
  readonly client: KubeClient;
  readonly #command: readonly string[];

  /** `command` starts the agent; default: ours, as it is shipped. */
  static async start(command: readonly string[] | undefined): Promise<Edge> {
    const plane = await ControlPlane.start({ name: 'edge' });
    return new Edge(plane, command ?? [process.execPath, muster, 'agent']);
  }

  private constructor(plane: ControlPlane, command: readonly string[]) {
    this.plane = plane;
    this.client = plane.client();
    this.#command = command;
  }

  /** Applies what a user applies to register by token. */
  async apply(bootstrap: BootstrapValues, clientID: string): Promise<void> {
    for (const object of synthAgent({ image, namespace, bootstrap, clientID, deploysWorkloads: true })) {
      await this.client.apply(resourceTypeOf(object), object, { fieldManager: 'bench' });
    }
  }

  /** Removes all that an agent, or a hub for it, has put here; a namespace that is being deleted is waited for. */
  async clean(): Promise<void> {
    const settled = async (): Promise<true | undefined> => {
      const found = await this.client.find(Namespaces, { name: namespace });
      return found?.metadata.deletionTimestamp === undefined ? true : undefined;
    };
    await poll(settled, { what: 'the agent namespace to go' });
    const named = [
      ['', 'secrets', 'Secret', 'fleet-agent'],
      ['', 'secrets', 'Secret', 'fleet-agent-bootstrap'],
      ['coordination.k8s.io', 'leases', 'Lease', 'fleet-agent'],
    ] as const;
    for (const [group, plural, kind, name] of named) {
      await this.client.delete({ group, version: 'v1', kind, plural, namespaced: true }, { namespace, name });
    }
    for (const object of synthAgent({ image, namespace, clientID: 'any' })) {
      if (object.kind === 'Namespace') continue;
      await this.client.delete(resourceTypeOf(object), { name: '', ...object.metadata });
    }
  }

  /** Starts the agent's process as its ServiceAccount; `at` is when. `environment` is added to a Deployment's. */
  async startAgent(
    environment: Readonly<Record<string, string>> = {},
  ): Promise<{ process: ManagedProcess; at: number }> {
    const account = { namespace, name: agentNames.serviceAccount };
    await poll(() => this.client.find(ServiceAccounts, account), { what: 'the ServiceAccount of the agent' });
    const { token } = await this.client.createToken(account, { expirationSeconds: 24 * 3600 });
    const kubeconfig = join(this.plane.dir, 'agent.kubeconfig');
    writeFileSync(kubeconfig, this.plane.kubeconfigFor({ token }), { mode: 0o600 });
    const [command = '', ...args] = this.#command;
    const at = performance.now();
    const agent = await ManagedProcess.start({
      name: 'agent',
      command,
      args: [...args, '--kubeconfig', kubeconfig, '--namespace', namespace],
      logFile: join(this.plane.dir, 'agent.log'),
      env: { ...agentEnvironment, ...environment },
    });
    return { process: agent, at };
  }

  /**
   * Does what nodes would do with the Deployment `fleet-agent`: its agent runs, and when the Deployment is made anew, a
   * new one as the account that is there then. A hub of Fleet makes both anew in its second try at a first import.
   */
  runDeployed(): { readonly failure: Promise<never>; stop(): Promise<void> } {
    const playing = new AbortController();
    const { signal } = playing;
    const place = { namespace, fieldSelector: `metadata.name=${agentNames.deployment}` };
    let deployed: string | undefined;
    let running: ManagedProcess | undefined;
    const follow = async (uid: string | undefined): Promise<void> => {
      if (uid === deployed || signal.aborted) return;
      deployed = uid;
      await running?.stop();
      running = uid === undefined ? undefined : (await this.startAgent()).process;
    };
    const play = async (): Promise<never> => {
      const { items, resourceVersion } = await this.client.list(Deployments, place);
      await follow(items[0]?.metadata.uid);
      for await (const event of this.client.watch(Deployments, { ...place, resourceVersion, signal })) {
        if (event.type !== 'BOOKMARK') await follow(event.type === 'DELETED' ? undefined : event.object.metadata.uid);
      }
      throw new Error('the watch of the agent’s Deployment ended');
    };
    const failure = play();
    failure.catch(() => undefined);
    const stop = async (): Promise<void> => {
      playing.abort();
      await failure.catch(() => undefined);
      await running?.stop();
    };
    return { failure, stop };
  }

  async close(): Promise<void> {
    await this.client.close();
    await this.plane.close();
  }
}

/** What the Deployment of either agent sets (Fleet: agent manifest). */
const agentEnvironment = {
  NAMESPACE: namespace,
  AGENT_SCOPE: '',
  CHECKIN_INTERVAL: '15m',
  CATTLE_ELECTION_LEASE_DURATION: '30s',
  CATTLE_ELECTION_RENEW_DEADLINE: '25s',
  CATTLE_ELECTION_RETRY_PERIOD: '10s',
  BUNDLEDEPLOYMENT_RECONCILER_WORKERS: '50',
  DRIFT_RECONCILER_WORKERS: '50',
  FLEET_AGENT_PPROF_DISABLED: 'true',
  FLEET_AGENT_METRICS_BIND_ADDRESS: '0',
  FLEET_AGENT_PROBE_BIND_ADDRESS: '0',
  POD_NAME: 'bench',
  HOSTNAME: 'bench',
};
