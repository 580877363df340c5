/**
 * For who applies everything else with `@pulumi/kubernetes`: hub and agent through its providers, each object a resource
 * with its own difference, instead of the releases `HubRelease` and `AgentRelease`.
 */
import * as k8s from '@pulumi/kubernetes';
import * as pulumi from '@pulumi/pulumi';
import { Cluster, ClusterRegistrationToken } from 'pulumi-muster';
import { Agent, Hub } from 'pulumi-muster/kubernetes';
import type { AgentArgs, HubArgs } from 'pulumi-muster/kubernetes';

const config = new pulumi.Config();
const image = config.get('image') ?? 'localhost/muster:dev';
const hubKubeconfig = config.requireSecret('hubKubeconfig');

// Without these two the provider deletes a ConfigMap or Secret that has changed, and makes another.
const mutable = { enableConfigMapMutable: true, enableSecretMutable: true };
const hubCluster = new k8s.Provider('hub', { kubeconfig: hubKubeconfig, ...mutable });
const edgeCluster = new k8s.Provider('edge', { kubeconfig: config.requireSecret('edgeKubeconfig'), ...mutable });

const hub = new Hub(
  'hub',
  {
    image,
    config: { apiServerURL: config.require('hubURL'), apiServerCA: config.require('hubCA') },
    ...config.getObject<Partial<HubArgs>>('hub'),
  },
  { provider: hubCluster },
);

const onHub = { kubeconfig: hubKubeconfig };
const token = new ClusterRegistrationToken('edge', { hub: onHub, ttl: '12h', renew: false }, { dependsOn: hub });
// Declared, and not waited for: that its agent is ready means that it has registered.
const cluster = new Cluster(
  'edge',
  {
    hub: onHub,
    metadata: { labels: { 'fleet.cattle.io/non-managed-agent': 'true' } },
    awaitReady: false,
  },
  { dependsOn: hub },
);
const agent = new Agent(
  'edge',
  { image, values: token.values, clientID: cluster.clientID, ...config.getObject<Partial<AgentArgs>>('agent') },
  { provider: edgeCluster },
);

export const name = cluster.metadata.name;
export const ready = pulumi.all([hub.ready, agent.ready]).apply((all) => all.every(Boolean));
