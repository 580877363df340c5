/** The clusters of a run: made here with real nodes (or a process runner), or given as kubeconfigs. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMusterError, MusterError } from '../api/errors.ts';
import type { KubeClient } from '../runtime/kube/client.ts';
import type { ClientConfig } from '../runtime/kube/client-config.ts';
import { createClient } from '../runtime/kube/create-client.ts';
import { parseKubeconfig } from '../runtime/kube/kubeconfig.ts';
import { claimPort, ClusterService, nodeSupport, startLocalCluster } from '../test/harness/index.ts';
import type { LocalClusterOptions } from '../test/harness/index.ts';
import { leftOver, takeInventory } from '../test/harness/inventory.ts';
import type { DemoOptions } from './options.ts';
import { hostNetworkConfig } from './program-config.ts';
import type { ClusterAddress, ConfigValue } from './program-config.ts';

/** Downstream clusters of examples/register-clusters: the first is registered by kubeconfig, the second by token. */
export const downstreamNames = ['east', 'west'] as const;

/** Where a run happens. */
export interface DemoClusters {
  readonly hub: ClusterAddress;
  /** What runs the pods, as one line for the user. */
  readonly worker: string;
  /** Configuration that these clusters need of the program. */
  readonly config: readonly ConfigValue[];
  /** Kubeconfig files of the downstream clusters that are up now, by name. */
  downstream(): Promise<Record<string, string>>;
  /** Objects that were not there before the run, as `cluster: plural namespace/name`; call it after `pulumi destroy`. */
  leftOvers(): Promise<string[]>;
  close(): Promise<void>;
}

const bundle = (name: string): string => fileURLToPath(new URL(`../dist/bin/${name}`, import.meta.url));

/** Starts a hub; the program makes the downstream clusters through a service that lives as long as this run. */
export async function startClusters(
  image: { ref: string; archive: string },
  { processes = false } = {},
): Promise<DemoClusters> {
  const support = nodeSupport();
  const node = support.supported && !processes;
  const ports = { hub: await claimPort(), east: await claimPort(), west: await claimPort() };
  const command = { muster: [process.execPath, bundle('muster.cjs')] };
  const common: Omit<LocalClusterOptions, 'name'> = {
    node,
    images: [image.archive],
    processImages: { [image.ref]: { command } },
  };
  const hub = await startLocalCluster({ ...common, name: 'hub', port: ports.hub });
  const client = hub.plane.client();
  // Every cluster starts as the hub did, so what the hub holds before anything is installed is what each may hold after.
  const before = await takeInventory(client);
  const found: string[] = [];
  const service = await ClusterService.start({
    ...common,
    optionsOf: (name) => (name === 'east' || name === 'west' ? { port: ports[name] } : {}),
    beforeEnd: async ({ name, plane }) => {
      const downstream = plane.client();
      found.push(...leftOver(before, await takeInventory(downstream)).map((line) => `${name}: ${line}`));
      await downstream.close();
    },
  });
  const servers = Object.fromEntries(downstreamNames.map((name) => [name, `https://127.0.0.1:${ports[name].value}`]));
  return {
    hub: { kubeconfig: hub.plane.kubeconfig, server: hub.plane.server, ca: hub.plane.ca },
    worker: node
      ? 'real nodes (kubelet, containerd, runc)'
      : `a process runner, ${support.supported ? 'as asked for' : `because no node can run here: ${support.reason}`}`,
    config: [{ key: 'clusterService', value: service.socket }, ...hostNetworkConfig(hub.plane.server, servers)],
    downstream: async () => {
      const clusters = await Promise.all(downstreamNames.map((name) => service.cluster(name)));
      return Object.fromEntries(clusters.flatMap((c) => (c === undefined ? [] : [[c.name, c.plane.kubeconfigPath]])));
    },
    leftOvers: async () => {
      found.push(...leftOver(before, await takeInventory(client)).map((line) => `hub: ${line}`));
      return found;
    },
    close: async () => {
      await Promise.all([client.close(), service.close()]);
      await hub.close();
    },
  };
}

/** Uses clusters that exist; nothing of them is changed but what the program registers. */
export async function useGivenClusters(options: DemoOptions): Promise<DemoClusters> {
  const files = [options.hubKubeconfig ?? '', ...options.clusterKubeconfigs];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const configs = texts.map((text, i) => parseFile(text, files[i] ?? ''));
  const clients = configs.map((config) => createClient(config));
  const names = ['hub', ...downstreamNames];
  const before = await Promise.all(clients.map((client) => takeInventory(client)));
  const [hubText = '', ...downstreamTexts] = texts;
  const { server = '', ca = '' } = configs[0] ?? {};
  const kubeconfigs = Object.fromEntries(downstreamTexts.map((text, i) => [names[i + 1], text]));
  return {
    hub: { kubeconfig: hubText, server, ca },
    worker: 'the given clusters',
    config: [
      { key: 'clusters', value: JSON.stringify(Object.keys(kubeconfigs)) },
      { key: 'clusterKubeconfigs', value: JSON.stringify(kubeconfigs), secret: true },
    ],
    downstream: async () => Object.fromEntries(options.clusterKubeconfigs.map((file, i) => [names[i + 1], file])),
    leftOvers: async () => {
      const after = await Promise.all(clients.map((client: KubeClient) => takeInventory(client)));
      return after.flatMap((lines, i) => leftOver(before[i] ?? new Set(), lines).map((line) => `${names[i]}: ${line}`));
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** Names the file, which the user gave, as the place of what is wrong. */
function parseFile(text: string, file: string): ClientConfig {
  try {
    return parseKubeconfig(text, { policy: 'user', baseDir: dirname(file) });
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const { code, message, hint } = error;
    throw new MusterError(code, message, { where: `kubeconfig ${file}`, ...(hint === undefined ? {} : { hint }) });
  }
}
