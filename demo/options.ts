/** The command line of `npm start`. */
import { parseArgs } from 'node:util';

/** What the user asked for. */
export interface DemoOptions {
  /** Remove everything again and prove it, instead of staying up. */
  readonly once: boolean;
  /** Files; when given, these clusters are used and none is started. */
  readonly hubKubeconfig: string | undefined;
  /** One or two files: the first is registered by kubeconfig, the second by token. */
  readonly clusterKubeconfigs: readonly string[];
  /** Image of hub and agent. Default: the one built here, which only clusters started here can run. */
  readonly image: string | undefined;
  /** More stack configuration of the program, as Pulumi's own `--config`. */
  readonly config: readonly { readonly key: string; readonly value: string }[];
  /** Run pods as processes even where a real node can run. */
  readonly processes: boolean;
  readonly help: boolean;
}

export const usage = `npm start -- [options]

Starts a hub and two downstream clusters, registers both with one real \`pulumi up\`, and shows them.

  --once                       destroy everything afterwards, prove that nothing is left, and end
  --hub-kubeconfig FILE        use this cluster as the hub
  --cluster-kubeconfig FILE    register this cluster; give it twice to register a second one by token
  --image REF                  image of hub and agent for given clusters (build one: npm run image)
  --config KEY=VALUE           more configuration of examples/register-clusters, such as hub='{"hostNetwork":true}'
  --processes                  run pods as processes of this machine, even where a real node can run
  --help                       this text`;

/** @throws Error with the reason, for a wrong flag or an incomplete pair of kubeconfigs. */
export function parseOptions(argv: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      once: { type: 'boolean', default: false },
      'hub-kubeconfig': { type: 'string' },
      'cluster-kubeconfig': { type: 'string', multiple: true, default: [] },
      image: { type: 'string' },
      config: { type: 'string', multiple: true, default: [] },
      processes: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const hubKubeconfig = values['hub-kubeconfig'];
  const clusterKubeconfigs = values['cluster-kubeconfig'];
  if ((hubKubeconfig === undefined) !== (clusterKubeconfigs.length === 0)) {
    throw new Error(
      '--hub-kubeconfig and --cluster-kubeconfig go together: give both, or none to use clusters of its own',
    );
  }
  if (clusterKubeconfigs.length > 2) throw new Error('--cluster-kubeconfig can be given once or twice');
  const { once, image, processes, help } = values;
  const config = values.config.map(keyAndValue);
  return { once, hubKubeconfig, clusterKubeconfigs, image, config, processes, help };
}

function keyAndValue(text: string): { key: string; value: string } {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`--config takes KEY=VALUE, not ${JSON.stringify(text)}`);
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}
