import * as pulumi from '@pulumi/pulumi';
import * as muster from 'pulumi-muster';
import { Agent, Hub } from 'pulumi-muster/kubernetes';
import type { AgentArgs } from 'pulumi-muster/kubernetes';
import { schemaVersion } from 'pulumi-muster/provider';

const config = new pulumi.Config();

const token = new muster.ClusterRegistrationToken('stores', { ttl: '12h' });

const cluster = new muster.Cluster('east', {
  metadata: { name: config.require('name'), labels: { env: 'test' } },
  kubeconfig: config.requireSecret('kubeconfig'),
  agent: { tolerations: [{ key: 'edge', operator: 'Exists' }] },
});

export const ready: pulumi.Output<boolean> = cluster.ready;
export const expires = token.expires;
export const form: number = schemaVersion;

// Without @pulumi/kubernetes, which this program does not have.
const agent: AgentArgs = { image: 'muster:1', values: token.values, labels: { site: cluster.uid } };
export const components = [Agent, Hub].map(({ name }) => name);
export const image = agent.image;
