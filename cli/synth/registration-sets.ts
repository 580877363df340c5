/** What a user declares on a hub: one object at a time. */
import { Option } from 'commander';
import { given } from '../../api/given.ts';
import { MusterError } from '../../api/errors.ts';
import { defaults } from '../../api/fleet/constants.ts';
import { synthCluster, synthClusterGroup, synthGitRepo, synthRegistrationToken } from '../../components/fleet/index.ts';
import type {
  ClusterGroupProps,
  GitRepoProps,
  HubObjectProps,
  RegisteredClusterProps,
  RegistrationTokenProps,
  TargetProps,
} from '../../components/fleet/index.ts';
import type { KubeObject } from '../../api/resource.ts';
import { collect, pairs, readProps } from './input.ts';
import { common, credentialOf, credentialOptions } from './options.ts';
import type { ManifestSet, Manifests } from './sets.ts';

const hubObject: Readonly<Record<keyof HubObjectProps, true>> = {
  name: true,
  namespace: true,
  labels: true,
  annotations: true,
  allowSecrets: true,
};
const clusterNames: Readonly<Record<keyof RegisteredClusterProps, true>> = {
  ...hubObject,
  protocol: true,
  kubeconfigSecret: true,
  clientID: true,
  agent: true,
  redeploy: true,
  paused: true,
  templateValues: true,
};
const tokenNames: Readonly<Record<keyof RegistrationTokenProps, true>> = {
  ...hubObject,
  protocol: true,
  ttl: true,
  oneUse: true,
};
const groupNames: Readonly<Record<keyof ClusterGroupProps, true>> = { ...hubObject, selector: true };
const gitRepoNames: Readonly<Record<keyof GitRepoProps, true>> = {
  ...hubObject,
  repo: true,
  branch: true,
  revision: true,
  paths: true,
  targets: true,
  pollingInterval: true,
  disablePolling: true,
  clientSecret: true,
  helmSecret: true,
  helmRepoURLRegex: true,
  caBundle: true,
  insecureSkipTLSVerify: true,
  targetNamespace: true,
  serviceAccount: true,
  paused: true,
  keepResources: true,
  deleteNamespace: true,
  correctDrift: true,
  forceSyncGeneration: true,
};

interface ObjectFlags {
  readonly props?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly label?: readonly string[];
}

const objectOptions = (): Option[] => [
  common.props(),
  common.name(),
  common.workspace(),
  common.label('a label of the object'),
];

/** Name, workspace and labels from file and flags; a missing name is refused with the object's other faults. */
function named<T extends HubObjectProps>(props: Partial<T>, flags: ObjectFlags): Partial<T> & HubObjectProps {
  const labels = flags.label === undefined ? undefined : { ...props.labels, ...pairs(flags.label, '--label') };
  const { name = props.name ?? '' } = flags;
  return { ...props, name, ...given({ namespace: flags.namespace, labels }) };
}

/** `cluster-east`; in another workspace than the default one `cluster-east.team-a`. Neither name can have a dot. */
function manifests(kind: string, { name, namespace }: HubObjectProps, objects: readonly KubeObject[]): Manifests {
  const elsewhere = namespace === undefined || namespace === defaults.defaultNamespace ? '' : `.${namespace}`;
  return { objects, file: `${kind}-${name}${elsewhere}` };
}

/** Every cluster at once is a wish to be written down, not a forgotten flag. */
function missingSelector(): never {
  throw new MusterError('INVALID_ARGUMENT', 'selects nothing', {
    where: 'group',
    hint: 'Give --selector key=value, or a file with `selector`, which for all clusters is {}.',
  });
}

interface ClusterFlags extends ObjectFlags {
  readonly clientId?: string;
  readonly kubeconfigSecret?: string;
  readonly externalSecret?: string;
  readonly externalSecretKey?: string;
  readonly sealedSecret?: string;
}

function clusterProps(flags: ClusterFlags): RegisteredClusterProps {
  const { clientId, kubeconfigSecret } = flags;
  const secret = credentialOf(flags) ?? (kubeconfigSecret === undefined ? undefined : { name: kubeconfigSecret });
  const props = named(readProps<RegisteredClusterProps>(flags.props, clusterNames), flags);
  return { ...props, ...given({ clientID: clientId, kubeconfigSecret: secret }) };
}

interface GitRepoFlags extends ObjectFlags {
  readonly repo?: string;
  readonly branch?: string;
  readonly revision?: string;
  readonly path?: readonly string[];
  readonly targetCluster?: readonly string[];
  readonly targetGroup?: readonly string[];
  readonly clientSecret?: string;
}

function gitRepoProps(flags: GitRepoFlags): GitRepoProps {
  const { repo, branch, revision, path, targetCluster = [], targetGroup = [], clientSecret } = flags;
  const props = named(readProps<GitRepoProps>(flags.props, gitRepoNames), flags);
  const targets: TargetProps[] = [
    ...targetCluster.map((clusterName) => ({ clusterName })),
    ...targetGroup.map((clusterGroup) => ({ clusterGroup })),
  ];
  return {
    ...props,
    repo: repo ?? props.repo ?? '',
    ...given({
      branch,
      revision,
      paths: path,
      targets: targets.length === 0 ? undefined : targets,
      clientSecret: clientSecret === undefined ? undefined : { name: clientSecret },
    }),
  };
}

export const registrationSets: readonly ManifestSet[] = [
  {
    name: 'cluster',
    description: 'a Cluster, to be applied to the hub',
    folder: 'registrations',
    options: [
      ...objectOptions(),
      new Option('--client-id <id>', 'it registers itself, with this identity'),
      new Option('--kubeconfig-secret <name>', 'Secret on the hub with its kubeconfig; the hub installs the agent'),
      ...credentialOptions('its kubeconfig'),
    ],
    synth(flags: ClusterFlags) {
      const props = clusterProps(flags);
      return manifests('cluster', props, synthCluster(props));
    },
  },
  {
    name: 'token',
    description: 'a registration token, to be applied to the hub; it holds no credential',
    folder: 'registrations',
    options: [
      ...objectOptions(),
      new Option('--ttl <duration>', 'life, a Go duration such as 24h (default: it never expires)'),
      new Option('--one-use', 'it registers one cluster'),
    ],
    synth(flags: ObjectFlags & { readonly ttl?: string; readonly oneUse?: boolean }) {
      const props = named(readProps<RegistrationTokenProps>(flags.props, tokenNames), flags);
      const all: RegistrationTokenProps = { ...props, ...given({ ttl: flags.ttl, oneUse: flags.oneUse }) };
      return manifests('token', all, synthRegistrationToken(all));
    },
  },
  {
    name: 'group',
    description: 'a ClusterGroup, to be applied to the hub',
    folder: 'registrations',
    options: [
      ...objectOptions(),
      new Option('--selector <key=value>', 'label that its clusters have; repeatable, all must hold').argParser(
        collect,
      ),
    ],
    synth(flags: ObjectFlags & { readonly selector?: readonly string[] }) {
      const props = named(readProps<ClusterGroupProps>(flags.props, groupNames), flags);
      const { selector } = props;
      const labels = flags.selector === undefined ? undefined : { matchLabels: pairs(flags.selector, '--selector') };
      const all = { ...props, selector: labels ?? selector ?? missingSelector() };
      return manifests('group', all, synthClusterGroup(all));
    },
  },
  {
    name: 'gitrepo',
    description: 'a GitRepo, to be applied to a hub that delivers',
    folder: 'registrations',
    options: [
      ...objectOptions(),
      new Option('--repo <url>', 'address of the repository'),
      new Option('--branch <branch>', 'branch to follow'),
      new Option('--revision <revision>', 'commit or tag to stay at'),
      new Option('--path <path>', 'folder to deliver; repeatable').argParser(collect),
      new Option('--target-cluster <name>', 'a Cluster that gets it; repeatable').argParser(collect),
      new Option('--target-group <name>', 'a ClusterGroup that gets it; repeatable').argParser(collect),
      new Option('--client-secret <name>', 'Secret of the workspace with the credential for the repository'),
    ],
    synth(flags: GitRepoFlags) {
      const props = gitRepoProps(flags);
      return manifests('gitrepo', props, synthGitRepo(props));
    },
  },
];
