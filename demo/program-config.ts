/** The stack configuration of examples/register-clusters for the clusters of this run. */

/** One value of the stack configuration; secrets are encrypted in the state and never shown. */
export interface ConfigValue {
  readonly key: string;
  readonly value: string;
  readonly secret?: boolean;
}

/** A cluster as the program has to know it. */
export interface ClusterAddress {
  readonly kubeconfig: string;
  /** `https://HOST:PORT` */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
}

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Record<string, unknown>;
}

/**
 * Environment of a pod on the network of a node that shares this machine with other nodes: it listens on its node's
 * address alone, and finds its API server without a Service.
 */
function hostNetworkEnv(prefix: string, server: string): EnvVar[] {
  const { hostname, port } = new URL(server);
  return [
    { name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    { name: `${prefix}_PROBE_BIND_ADDRESS`, value: '$(HOST_IP):8081' },
    { name: `${prefix}_METRICS_BIND_ADDRESS`, value: '$(HOST_IP):8080' },
    { name: 'KUBERNETES_SERVICE_HOST', value: hostname },
    { name: 'KUBERNETES_SERVICE_PORT', value: port },
  ];
}

/** What hub and agents need on nodes of this machine. `servers`: API server of each cluster, by name. */
export function hostNetworkConfig(hubServer: string, servers: Readonly<Record<string, string>>): ConfigValue[] {
  const hub = {
    hostNetwork: true,
    imagePullPolicy: 'IfNotPresent',
    envVars: hostNetworkEnv('MUSTER', hubServer),
  };
  const agents = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      { hostNetwork: true, envVars: hostNetworkEnv('FLEET_AGENT', server) },
    ]),
  );
  return [
    { key: 'hub', value: JSON.stringify(hub) },
    { key: 'agents', value: JSON.stringify(agents) },
  ];
}

/** What every run sets. */
export function commonConfig(hub: ClusterAddress, image: string): ConfigValue[] {
  return [
    { key: 'muster:hubKubeconfig', value: hub.kubeconfig, secret: true },
    { key: 'hubURL', value: hub.server },
    { key: 'hubCA', value: hub.ca },
    { key: 'image', value: image },
    { key: 'hubConfig', value: JSON.stringify({ agentImagePullPolicy: 'IfNotPresent' }) },
  ];
}
