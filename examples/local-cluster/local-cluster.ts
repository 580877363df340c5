/**
 * A cluster on this machine, as a Pulumi resource: stands in for EKS, GKE, k3s and the like. A service on a Unix socket
 * makes it (test/harness/cluster-service/): PUT, GET and DELETE of /clusters/NAME, answered with its kubeconfig.
 */
import * as pulumi from '@pulumi/pulumi';

/** What the service answers. */
interface ClusterAnswer {
  readonly kubeconfig: string;
  readonly server: string;
}

interface LocalClusterInputs {
  readonly socket: string;
  readonly name: string;
}

/** One request to the service. This function is stored with the resource, so it brings all that it needs. */
async function request(method: string, { socket, name }: LocalClusterInputs): Promise<ClusterAnswer | undefined> {
  const { request: send } = await import('node:http');
  return new Promise((resolve, reject) => {
    const call = send({ socketPath: socket, path: `/clusters/${name}`, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', reject);
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        if (status === 404 || status === 204) resolve(undefined);
        else if (status < 300) resolve(JSON.parse(text || '{}') as ClusterAnswer);
        else reject(new Error(`the cluster service answered ${status} to ${method} ${name}: ${text}`));
      });
    });
    call.on('error', (error) =>
      reject(new Error(`the cluster service on ${socket} does not answer: ${error.message}`)),
    );
    call.end();
  });
}

const provider: pulumi.dynamic.ResourceProvider<LocalClusterInputs, LocalClusterInputs & ClusterAnswer> = {
  async create(inputs) {
    const answer = await request('PUT', inputs);
    if (answer === undefined) throw new Error(`the cluster service made no cluster ${inputs.name}`);
    return { id: inputs.name, outs: { ...inputs, ...answer } };
  },
  async read(id, outputs) {
    if (outputs === undefined) return { id: '' };
    const answer = await request('GET', outputs);
    return answer === undefined ? { id: '' } : { id, props: { ...outputs, ...answer } };
  },
  async update(_id, olds, news) {
    // The service may have come back on another socket; the cluster is the same.
    const answer = await request('PUT', news);
    return { outs: { ...olds, ...news, ...answer } };
  },
  async delete(_id, outputs) {
    await request('DELETE', outputs);
  },
};

/** A cluster on this machine. */
export class LocalCluster extends pulumi.dynamic.Resource {
  /** Admin's kubeconfig; a secret, unknown until the cluster is made. */
  declare readonly kubeconfig: pulumi.Output<string>;
  /** Address of its API server. */
  declare readonly server: pulumi.Output<string>;

  constructor(name: string, args: { readonly socket: pulumi.Input<string> }, options?: pulumi.CustomResourceOptions) {
    super(
      provider,
      name,
      { kubeconfig: undefined, server: undefined, name, ...args },
      pulumi.mergeOptions(options, { additionalSecretOutputs: ['kubeconfig'] }),
      'example',
      'LocalCluster',
    );
  }
}
