/** The hub's own cluster as one of its clusters: what the configuration says, and who makes which part. No cdk8s. */
import { defaults } from '../../api/fleet/constants.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import type { KubeObject } from '../../api/resource.ts';

export interface LocalBootstrap {
  /** Workspace of Cluster `local`. */
  readonly namespace: string;
  readonly agentNamespace: string;
  /** No agent is installed, and one that is there is removed. */
  readonly agentDisabled: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** What GitRepo `bootstrap` of that workspace says; `undefined`: there is none. */
  readonly repo: LocalRepo | undefined;
}

/** A repository for the hub's own cluster, from which the rest can be set up (Fleet: bootstrap.repo). */
export interface LocalRepo {
  readonly repo: string;
  readonly branch?: string;
  readonly clientSecretName?: string;
  readonly paths?: readonly string[];
}

/** `undefined` when the hub does not register its own cluster: no namespace, `-` (Fleet), or not enabled. */
export function localBootstrap({ bootstrap }: HubConfig): LocalBootstrap | undefined {
  const { enabled = true, namespace = '', agentNamespace, localAgentDisabled, clusterLabels } = bootstrap ?? {};
  if (!enabled || namespace === '' || namespace === '-') return undefined;
  return {
    namespace,
    agentNamespace: agentNamespace || defaults.localAgentNamespace,
    agentDisabled: localAgentDisabled ?? false,
    labels: clusterLabels ?? {},
    repo: localRepo(bootstrap),
  };
}

function localRepo({ repo = '', branch, secret, paths = '' }: NonNullable<HubConfig['bootstrap']> = {}):
  LocalRepo | undefined {
  if (repo === '') return undefined;
  const folders = paths.split(',').map((path) => path.trim());
  return {
    repo,
    ...(branch ? { branch } : {}),
    ...(secret ? { clientSecretName: secret } : {}),
    ...(folders.some(Boolean) ? { paths: folders.filter(Boolean) } : {}),
  };
}

const given = [
  'Namespace',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'PriorityClass',
];

/** Whether an object of the local agent comes with the hub's manifests: all that gives rights. The hub may not write it. */
export function isGiven({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return given.includes(kind);
}
