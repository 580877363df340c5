import * as pulumi from '@pulumi/pulumi';
import { Cluster, ClusterRegistrationToken, isMusterError, type ClusterArgs } from 'pulumi-muster';
import { Agent, Hub, type HubArgs } from 'pulumi-muster/kubernetes';
import { schemaVersion } from 'pulumi-muster/provider';

const config = new pulumi.Config();

const args: ClusterArgs = {
  metadata: { name: config.require('name'), labels: { env: 'test' } },
  kubeconfig: config.requireSecret('kubeconfig'),
  agent: { tolerations: [{ key: 'edge', operator: 'Exists' }] },
};
const cluster = new Cluster('east', args);
const token = new ClusterRegistrationToken('stores', { ttl: '12h' });

export const ready: pulumi.Output<boolean> = cluster.ready;
export const expires = token.expires;
export const form: number = schemaVersion;
export const errors = typeof isMusterError;

// Without @pulumi/kubernetes, which this program does not have.
const hub: HubArgs = { image: pulumi.output('muster:1'), config: { apiServerURL: token.secretName } };
export const components = [Agent, Hub].map(({ name }) => name);
export const image = hub.image;
