/**
 * A cluster that neither this program nor the hub can reach: its machine brings the agent along, and the agent registers
 * itself. k3s applies what lies in its manifests folder; any other way to get a file onto the machine does as well.
 */
import * as pulumi from '@pulumi/pulumi';
import { ClusterGroup, RegisteredCluster } from 'pulumi-muster';

const config = new pulumi.Config();

const store = new RegisteredCluster('store-17', {
  mode: 'manifest',
  image: config.get('image') ?? 'localhost/muster:dev',
  metadata: { name: config.get('name') ?? 'store-17', labels: { tier: 'edge' } },
  agent: { envVars: [{ name: 'HTTPS_PROXY', value: config.get('proxy') ?? '' }] },
});

const edge = new ClusterGroup(
  'edge',
  {
    metadata: { name: config.get('group') ?? 'edge' },
    selector: { matchLabels: { tier: 'edge' } },
  },
  { dependsOn: store },
);

/** User data of the machine. A secret: it holds the token. */
export const userData = store.manifest.apply(
  (manifest) =>
    `#cloud-config\n${JSON.stringify({
      write_files: [
        {
          path: '/var/lib/rancher/k3s/server/manifests/muster-agent.yaml',
          permissions: '0600',
          content: manifest,
        },
      ],
    })}\n`,
);
export const clusters = edge.clusterCount;
