/** `count` dynamic resources that do nothing: what Pulumi itself takes. */
import * as pulumi from '@pulumi/pulumi';

const nothing: pulumi.dynamic.ResourceProvider = {
  check: (_olds, news) => Promise.resolve({ inputs: news }),
  diff: () => Promise.resolve({ changes: false }),
  create: (inputs) => Promise.resolve({ id: 'nothing', outs: inputs }),
};

class Nothing extends pulumi.dynamic.Resource {
  constructor(name: string, props: pulumi.Inputs) {
    super(nothing, name, props);
  }
}

const config = new pulumi.Config();
const run = config.require('run');

for (let index = 0; index < config.requireNumber('count'); index++) {
  const name = `${run}-${index}`;
  new Nothing(name, { metadata: { name, labels: { bench: 'true' } }, clientID: name });
}
