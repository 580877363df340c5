/** A hub with a registered cluster whose real agent reports: what there is to publish. */
import { Clusters } from '../../api/fleet/kinds.ts';
import { Secrets } from '../../api/kubernetes/core.ts';
import { runAgent } from '../../runtime/agent/fleet/agent.ts';
import type { KubeClient } from '../../runtime/kube/client.ts';
import { ControlPlane } from '../harness/index.ts';
import { ask, asToken, cluster, clusterThat, condition, createToken, workspace } from '../support/registering.ts';
import type { RunningHub } from '../support/running-hub.ts';
import { startRunningHub, systemNamespace } from '../support/running-hub.ts';

export interface InventoryWorld {
  readonly hub: RunningHub;
  /** Another cluster, in which the agent of Cluster `east` lives. */
  readonly edge: ControlPlane;
  /** Its administrator. */
  readonly downstream: KubeClient;
  close(): Promise<void>;
}

/** Cluster `east` (label `env=prod`) is imported and ready; token `tok` registers others. */
export async function startInventoryWorld(): Promise<InventoryWorld> {
  const [hub, edge] = await Promise.all([startRunningHub('inventory'), ControlPlane.start({ name: 'edge' })]);
  const downstream = edge.client();
  const stop = new AbortController();
  let agent: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stop.abort(new Error('test over'));
    await agent?.catch(() => undefined);
    await downstream.close();
    await Promise.all([hub.close(), edge.close()]);
  };
  try {
    await createToken(hub, 'tok');
    await keepKubeconfig(hub, 'east', edge.kubeconfig);
    const spec = { kubeConfigSecret: 'east-kubeconfig' };
    await hub.admin.create(Clusters, cluster('east', spec, { labels: { env: 'prod' } }));
    await clusterThat(hub, 'east', (c) => condition(c, 'Imported')?.status === 'True', 'Imported');
    const options = { edge: downstream, namespace: systemNamespace, leaderElect: false, checkinIntervalMs: 1000 };
    agent = runAgent(options, stop.signal);
    await clusterThat(hub, 'east', (c) => condition(c, 'Ready')?.status === 'True', 'Ready');
    return { hub, edge, downstream, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function keepKubeconfig(hub: RunningHub, name: string, kubeconfig: string): Promise<void> {
  const metadata = { name: `${name}-kubeconfig`, namespace: workspace };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { value: kubeconfig } };
  await hub.admin.apply(Secrets, secret, { fieldManager: 'test' });
}

/** A Cluster that asks to be registered, and is. `reachable`: the hub has a kubeconfig of it, which leads to the edge. */
export async function register(
  { hub, edge }: InventoryWorld,
  name: string,
  { labels = {}, reachable = false }: { labels?: Record<string, string>; reachable?: boolean } = {},
): Promise<void> {
  if (reachable) await keepKubeconfig(hub, name, edge.kubeconfig);
  // an agent's namespace of its own, so that the end of one is not the end of another
  const spec = reachable ? { kubeConfigSecret: `${name}-kubeconfig`, agentNamespace: `agent-${name}` } : {};
  await hub.admin.create(Clusters, cluster(name, { clientID: name, ...spec }, { labels }));
  // a request that comes before the hub has heard of the Cluster makes one of its own
  await clusterThat(hub, name, (c) => condition(c, 'Processed') !== undefined, 'known');
  const token = reachable ? `import-token-${name}` : 'tok';
  await ask(await asToken(hub, token), { clientID: name, token });
  await clusterThat(hub, name, (c) => condition(c, 'Registered')?.status === 'True', 'Registered');
}
