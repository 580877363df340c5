/** What is installed: definitions, hub, agent. */
import { Option } from 'commander';
import { given } from '../../api/given.ts';
import { parseValues } from '../../api/fleet/bootstrap-values.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { version } from '../../api/version.ts';
import { synthAgent, synthCrds, synthHub } from '../../components/fleet/index.ts';
import type { AgentProps, CrdsProps, HubProps } from '../../components/fleet/index.ts';
import { agentChart, crdsChart, hubChart } from '../../components/helm/index.ts';
import { collect, pairs, readProps, readText } from './input.ts';
import { common, credentialOf, credentialOptions } from './options.ts';
import type { Flags, ManifestSet } from './sets.ts';

const workload = {
  protocol: true,
  image: true,
  imagePullPolicy: true,
  imagePullSecrets: true,
  replicas: true,
  envVars: true,
  tolerations: true,
  resources: true,
  hostNetwork: true,
  allowSecrets: true,
  namespace: true,
} as const;

const hubNames: Readonly<Record<keyof HubProps, true>> = { ...workload, config: true, workspaces: true };

const agentNames: Readonly<Record<keyof AgentProps, true>> = {
  ...workload,
  program: true,
  command: true,
  privateRepoURL: true,
  systemDefaultRegistry: true,
  agentScope: true,
  checkinInterval: true,
  affinity: true,
  schedulingCustomization: true,
  clientID: true,
  labels: true,
  agentTLSMode: true,
  garbageCollectionInterval: true,
  workers: true,
  hubAddress: true,
  bootstrap: true,
  bootstrapSecret: true,
  redeployGeneration: true,
  deploysWorkloads: true,
};

const defaultImage = `muster:${version}`;

interface HubFlags {
  readonly props?: string;
  readonly image?: string;
  readonly namespace?: string;
  readonly apiServerUrl?: string;
  readonly apiServerCa?: string;
  readonly workspace?: readonly string[];
}

/** Throws INVALID_ARGUMENT. */
export function hubProps(flags: HubFlags): HubProps {
  const props = readProps<HubProps>(flags.props, hubNames);
  const { apiServerUrl, apiServerCa, workspace, image, namespace } = flags;
  const config: HubConfig = {
    ...props.config,
    ...given({
      apiServerURL: apiServerUrl,
      apiServerCA: apiServerCa === undefined ? undefined : readText(apiServerCa, '--api-server-ca'),
    }),
  };
  return { image: defaultImage, ...props, ...given({ image, namespace, workspaces: workspace }), config };
}

interface AgentFlags {
  readonly props?: string;
  readonly image?: string;
  readonly namespace?: string;
  readonly values?: string;
  readonly clientId?: string;
  readonly label?: readonly string[];
  readonly deploysWorkloads?: boolean;
  readonly externalSecret?: string;
  readonly externalSecretKey?: string;
  readonly sealedSecret?: string;
}

/** Throws INVALID_ARGUMENT. */
export function agentProps(flags: AgentFlags): AgentProps {
  const props = readProps<AgentProps>(flags.props, agentNames);
  const { image, namespace, values, clientId, label, deploysWorkloads } = flags;
  const fromFlags = given({
    image,
    namespace,
    bootstrap: values === undefined ? undefined : parseValues(readText(values, '--values'), '--values'),
    bootstrapSecret: credentialOf(flags),
    clientID: clientId,
    labels: label === undefined ? undefined : { ...props.labels, ...pairs(label, '--label') },
    deploysWorkloads,
  });
  return { image: defaultImage, ...props, ...fromFlags };
}

export const installationSets: readonly ManifestSet[] = [
  {
    name: 'crds',
    description: 'CustomResourceDefinitions, to be applied to the hub first',
    folder: 'crds',
    options: [
      new Option('--cluster-profiles', 'with ClusterProfile of SIG Multicluster, unless others have installed it'),
    ],
    hasChart: true,
    synth(flags: CrdsProps) {
      const objects = synthCrds(flags);
      return { objects, file: 'crds', chart: () => crdsChart(objects) };
    },
  },
  {
    name: 'hub',
    description: 'the hub',
    folder: 'hub',
    options: [
      common.props(),
      common.image(),
      new Option('--namespace <namespace>', 'system namespace (default: cattle-fleet-system)'),
      new Option('--api-server-url <url>', 'address of the hub as agents reach it'),
      new Option('--api-server-ca <file>', 'certificate authority of that address, PEM'),
      new Option('--workspace <namespace>', 'a namespace for clusters and tokens; repeatable').argParser(collect),
    ],
    hasChart: true,
    synth(flags: Flags) {
      const props = hubProps(flags);
      return { objects: synthHub(props), file: 'hub', chart: () => hubChart(props) };
    },
  },
  {
    name: 'agent',
    description: 'the agent, to be applied to a cluster that registers itself',
    folder: 'agent',
    options: [
      common.props(),
      common.image(),
      new Option('--namespace <namespace>', 'its namespace (default: cattle-fleet-system)'),
      new Option('--client-id <id>', 'identity at the hub (default: UID of namespace kube-system)'),
      common.label('label to register with'),
      new Option('--deploys-workloads', 'give it the rights to install workloads'),
      ...credentialOptions('values of its token'),
      new Option('--values <file>', 'values of its token in clear; needs --allow-secrets'),
    ],
    hasChart: true,
    synth(flags: Flags) {
      const props = agentProps(flags);
      return { objects: synthAgent(props), file: 'agent', chart: () => agentChart(props) };
    },
  },
];
