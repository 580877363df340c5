/** The programs that tests and the demo run, with the versions that this project is tested with. */
export type ToolName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'pulumi'
  | 'pulumi-language-nodejs'
  | 'pulumi-resource-kubernetes'
  | 'helm'
  | 'kubectl'
  | 'containerd'
  | 'runc'
  | 'cni'
  | 'busybox'
  | 'iptables'
  | 'conntrack';

/** Where a program comes from when it is not on PATH. */
export type SourceName =
  'kubernetes' | 'etcd' | 'pulumi' | 'language-nodejs' | 'pulumi-kubernetes' | 'kubectl-layer' | 'debian';

/** A semantic version without its pre-release part. */
export type Version = readonly [major: number, minor: number, patch: number];

/** One program. */
export interface Program {
  readonly source: SourceName;
  /** Arguments that make it print its version and end; undefined when it cannot. */
  readonly versionArgs?: readonly string[];
  /** Finds the version in what it prints; its first group is `major.minor.patch`. */
  readonly versionPattern?: RegExp;
  /** Whether a copy found on PATH may be used. The rule in words is in README.md. */
  readonly accepts: (version: Version) => boolean;
}

/** Versions of what is built or unpacked; Debian's packages come as the distribution has them. */
export const versions = {
  kubernetes: '1.36.3',
  etcd: '3.6.16',
  pulumi: '3.274.1',
  languageNodejs: '3.68.0',
  /** The same as that of the npm package @pulumi/kubernetes, which asks for this very version. */
  pulumiKubernetes: '4.25.0',
  helm: '4.1',
  kubectl: '1.35',
} as const;

const anyVersion = (): boolean => true;
const sameMinor =
  (major: number, minor: number) =>
  (version: Version): boolean =>
    version[0] === major && version[1] === minor;
const atLeast =
  (major: number, minor: number) =>
  (version: Version): boolean =>
    version[0] === major && version[1] >= minor;

const kubernetes: Program = {
  source: 'kubernetes',
  versionArgs: ['--version'],
  versionPattern: /Kubernetes v(\d+\.\d+\.\d+)/,
  accepts: sameMinor(1, 36),
};

/** Every program by name. */
export const programs: Readonly<Record<ToolName, Program>> = {
  etcd: {
    source: 'etcd',
    versionArgs: ['--version'],
    versionPattern: /etcd Version: (\d+\.\d+\.\d+)/,
    accepts: sameMinor(3, 6),
  },
  'kube-apiserver': kubernetes,
  'kube-controller-manager': kubernetes,
  'kube-scheduler': kubernetes,
  kubelet: kubernetes,
  'kube-proxy': kubernetes,
  pulumi: {
    source: 'pulumi',
    versionArgs: ['version'],
    versionPattern: /v?(\d+\.\d+\.\d+)/,
    accepts: atLeast(3, 274),
  },
  // Prints no version; its use from PATH is tied to Pulumi's own (on-path.ts).
  'pulumi-language-nodejs': { source: 'language-nodejs', accepts: anyVersion },
  // Prints no version, so that a copy on PATH is never known to be the one that the npm package asks for.
  'pulumi-resource-kubernetes': { source: 'pulumi-kubernetes', accepts: () => false },
  helm: {
    source: 'kubectl-layer',
    versionArgs: ['version', '--short'],
    versionPattern: /v(\d+\.\d+\.\d+)/,
    accepts: atLeast(4, 1),
  },
  kubectl: {
    source: 'kubectl-layer',
    versionArgs: ['version', '--client'],
    versionPattern: /Client Version: v(\d+\.\d+\.\d+)/,
    // Kubernetes' version skew policy: kubectl within one minor version of the API server.
    accepts: (version) => version[0] === 1 && Math.abs(version[1] - 36) <= 1,
  },
  containerd: {
    source: 'debian',
    versionArgs: ['--version'],
    versionPattern: /containerd \S+ v?(\d+\.\d+\.\d+)/,
    accepts: (version) => version[0] >= 2 || (version[0] === 1 && version[1] >= 6),
  },
  runc: {
    source: 'debian',
    versionArgs: ['--version'],
    versionPattern: /runc version (\d+\.\d+\.\d+)/,
    accepts: atLeast(1, 1),
  },
  cni: { source: 'debian', accepts: anyVersion },
  busybox: {
    source: 'debian',
    versionArgs: [],
    versionPattern: /BusyBox v(\d+\.\d+\.\d+)/,
    accepts: atLeast(1, 30),
  },
  iptables: {
    source: 'debian',
    versionArgs: ['--version'],
    versionPattern: /iptables v(\d+\.\d+\.\d+)/,
    accepts: atLeast(1, 8),
  },
  conntrack: {
    source: 'debian',
    versionArgs: ['--version'],
    versionPattern: /conntrack v(\d+\.\d+\.\d+)/,
    accepts: atLeast(1, 4),
  },
};

/** All names, in the order of the table that `npm run tools` prints. */
export const toolNames = Object.keys(programs) as readonly ToolName[];

/** Those that take ten minutes and more to make, and that few need: made when somebody names them. */
const costly: readonly ToolName[] = ['pulumi-resource-kubernetes'];

/** What the demo and most tests run. */
export const usualTools = toolNames.filter((name) => !costly.includes(name));

/** `1.36.3` → [1, 36, 3]. */
export function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number);
  return [major, minor, patch];
}
