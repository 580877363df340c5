/** `count` Clusters by clientID. */
import * as pulumi from '@pulumi/pulumi';
import { Cluster } from 'pulumi-muster';

const config = new pulumi.Config();
const run = config.require('run');

for (let index = 0; index < config.requireNumber('count'); index++) {
  const name = `${run}-${index}`;
  new Cluster(name, { metadata: { name, labels: { bench: 'true' } }, clientID: name });
}
