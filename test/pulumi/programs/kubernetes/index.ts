/** A hub and an agent whose cluster, image, token and labels are not known before other resources have been made. */
import * as k8s from '@pulumi/kubernetes';
import * as pulumi from '@pulumi/pulumi';
import { Agent, Hub } from 'pulumi-muster/kubernetes';

const config = new pulumi.Config();

/** Gives its text as an output that no preview knows. */
class Later extends pulumi.dynamic.Resource {
  declare readonly text: pulumi.Output<string>;
  constructor(name: string, of: pulumi.Input<string>, options: pulumi.CustomResourceOptions = {}) {
    const create = (inputs: { of: string }) => Promise.resolve({ id: 'later', outs: { ...inputs, text: inputs.of } });
    super({ create }, name, { of, text: undefined }, options);
  }
}

const asSecret = { additionalSecretOutputs: ['text'] };
const provider = new k8s.Provider('edge', {
  kubeconfig: new Later('kubeconfig', config.requireSecret('kubeconfig'), asSecret).text,
});
const aliases = config.get('before') === undefined ? {} : { aliases: [{ name: config.require('before') }] };

const hub = new Hub(
  'hub',
  {
    image: 'example.test/muster:1',
    replicas: 0,
    config: { apiServerURL: new Later('url', 'https://hub.test:6443').text },
    awaitReady: false,
  },
  { provider },
);
const agent = new Agent(
  config.get('called') ?? 'edge',
  {
    image: new Later('image', 'example.test/agent:1').text,
    values: new Later('values', config.requireSecret('values'), asSecret).text,
    checkinInterval: config.get('interval') ?? '15m',
    labels: { site: new Later('site', 'north').text, tier: 'edge' },
    agent: {
      namespace: config.require('namespace'),
      envVars: [{ name: 'PROXY', value: config.get('proxy') ?? 'none' }],
    },
    awaitReady: false,
  },
  { provider, ...aliases },
);

export const ready = agent.ready;
export const hubObjects = hub.objects.length;
