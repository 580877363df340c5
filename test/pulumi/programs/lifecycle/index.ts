/** One Cluster and one agent, with whatever resource options the test asks for. */
import * as pulumi from '@pulumi/pulumi';
import { AgentRelease, Cluster } from 'pulumi-muster';

const config = new pulumi.Config();

const parent = new pulumi.ComponentResource('test:index:Group', 'group');
const options: pulumi.CustomResourceOptions = {
  parent,
  protect: config.getBoolean('protect') ?? false,
  ...(config.getBoolean('ignoreLabels') ? { ignoreChanges: ['metadata.labels'] } : {}),
  ...(config.get('before') === undefined ? {} : { aliases: [{ name: config.require('before') }] }),
};

const cluster = new Cluster(
  config.get('called') ?? 'east',
  {
    metadata: { name: config.get('name') ?? 'east', labels: { env: config.get('env') ?? 'dev' } },
    kubeconfig: config.requireSecret('kubeconfig'),
    timeouts: { create: config.get('patience') ?? '60s', update: config.get('patience') ?? '60s' },
  },
  options,
);

if (config.getBoolean('agent')) {
  new AgentRelease(
    'agent',
    {
      kubeconfig: config.requireSecret('kubeconfig'),
      values: config.requireSecret('values'),
      image: 'example.test/muster:1',
    },
    { retainOnDelete: true },
  );
}

export const uid = cluster.uid;
export const ready = cluster.ready;
