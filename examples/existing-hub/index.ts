/**
 * A hub is there already, ours or Rancher Fleet's: register a cluster with it by kubeconfig. The hub is taken from
 * `muster:hubKubeconfig`.
 */
import * as pulumi from '@pulumi/pulumi';
import { Cluster } from 'pulumi-muster';

const config = new pulumi.Config();

const cluster = new Cluster('store-17', {
  metadata: { namespace: 'fleet-default', labels: { region: 'north', tier: 'edge' } },
  kubeconfig: config.requireSecret('kubeconfig'),
  agent: { envVars: [{ name: 'HTTPS_PROXY', value: config.get('proxy') ?? '' }] },
  timeouts: { create: config.get('patience') ?? '10m' },
});

export const name = cluster.metadata.name;
export const ready = cluster.ready;
