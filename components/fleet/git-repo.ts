/** Construct of a GitRepo. */
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { defaults } from '../../api/fleet/constants.ts';
import { gitRepoSpec } from '../../api/fleet/git-repo.ts';
import { given } from '../../api/given.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { addSecretSource, secretNameOf } from '../secrets/add-secret-source.ts';
import type { SecretSource } from '../secrets/source.ts';
import { HubObject, ReferencedObject } from './hub-object.ts';
import type { HubObjectProps, IHubObject, ReferenceOptions } from './hub-object.ts';
import { synthesizeOne } from './synthesize.ts';
import { targetOf } from './target.ts';
import type { Target } from './target.ts';

/** Props of {@link GitRepo}. */
export interface GitRepoProps extends HubObjectProps {
  /** URL, https or ssh, without a password in it. */
  readonly repo: string;
  /** Branch to follow. Default: `master`, unless there is a revision. */
  readonly branch?: string;
  /** Commit or tag to stay at; not together with `branch`. Default: the head of the branch. */
  readonly revision?: string;
  /** Folders, or patterns of them, that become bundles. Default: the whole repository. */
  readonly paths?: readonly string[];
  /** Clusters and groups of the same workspace. Default: the ClusterGroup `default`. */
  readonly targets?: readonly Target[];
  /** How often the repository is looked at, a Go duration. Default: `15s`. */
  readonly pollingInterval?: string;
  /** Look at it only when a webhook says so. Default: false. */
  readonly disablePolling?: boolean;
  /**
   * Credential for the repository: a Secret of the workspace. An ExternalSecret is taken apart (`extract`): its entry has
   * to have the keys of the type, `username` and `password` for https (`kubernetes.io/basic-auth`), `ssh-privatekey` and
   * `known_hosts` for ssh (`kubernetes.io/ssh-auth`). Default name: `NAME-git`.
   */
  readonly clientSecret?: SecretSource;
  /** Credential for chart repositories, in the same ways; the type is `Opaque`. Default name: `NAME-helm`. */
  readonly helmSecret?: SecretSource;
  /** Regular expression of the chart repositories that get `helmSecret`. Default: all. */
  readonly helmRepoURLRegex?: string;
  /** Certificates that sign the repository, PEM in base64. Default: those of the system. */
  readonly caBundle?: string;
  /** Do not verify the repository's certificate. Default: false. */
  readonly insecureSkipTLSVerify?: boolean;
  /** Namespace downstream that all resources are put into. Default: what the resources say. */
  readonly targetNamespace?: string;
  /** ServiceAccount downstream that deploys. Default: the agent's own. */
  readonly serviceAccount?: string;
  /** Roll nothing new out. Default: false. */
  readonly paused?: boolean;
  /** Leave resources in place when the GitRepo goes. Default: false. */
  readonly keepResources?: boolean;
  /** Remove `targetNamespace` with the GitRepo. Default: false. */
  readonly deleteNamespace?: boolean;
  /** Put back what somebody changed downstream. Default: not enabled. */
  readonly correctDrift?: { readonly enabled?: boolean; readonly force?: boolean; readonly keepFailHistory?: boolean };
  /** Change it to any other number to deploy again although nothing changed. Default: 0. */
  readonly forceSyncGeneration?: number;
}

/** A Git repository whose folders are delivered to clusters. Throws INVALID_ARGUMENT, SECRET_IN_CLEAR. */
export class GitRepo extends HubObject {
  /** A GitRepo that exists already. Throws INVALID_ARGUMENT. */
  static fromGitRepoName(scope: Construct, id: string, name: string, options: ReferenceOptions = {}): IHubObject {
    return new ReferencedGitRepo(scope, id, name, options);
  }

  constructor(scope: Construct, id: string, props: GitRepoProps) {
    const namespace = props.namespace ?? defaults.defaultNamespace;
    const where = `GitRepo ${props.name}`;
    if (props.branch !== undefined && props.revision !== undefined)
      throw new MusterError('INVALID_ARGUMENT', 'branch and revision are both set', {
        where,
        hint: 'Give the branch to follow, or the commit or tag to stay at.',
      });
    const { clientSecret, helmSecret, targets } = props;
    const type = isSsh(props.repo) ? 'kubernetes.io/ssh-auth' : 'kubernetes.io/basic-auth';
    const common = { namespace, extract: true };
    const wanted = {
      git: { ...common, name: `${props.name}-git`, type, where: `${where}: clientSecret` },
      helm: { ...common, name: `${props.name}-helm`, where: `${where}: helmSecret` },
    };
    const spec = given({
      repo: props.repo,
      branch: props.branch,
      revision: props.revision,
      paths: props.paths,
      targets: targets?.map((target, index) => targetOf(target, namespace, `${where}: targets[${index}]`)),
      pollingInterval: props.pollingInterval,
      disablePolling: props.disablePolling,
      clientSecretName: clientSecret && secretNameOf(clientSecret, wanted.git),
      helmSecretName: helmSecret && secretNameOf(helmSecret, wanted.helm),
      helmRepoURLRegex: props.helmRepoURLRegex,
      caBundle: props.caBundle,
      insecureSkipTLSVerify: props.insecureSkipTLSVerify,
      targetNamespace: props.targetNamespace,
      serviceAccount: props.serviceAccount,
      paused: props.paused,
      keepResources: props.keepResources,
      deleteNamespace: props.deleteNamespace,
      correctDrift: props.correctDrift,
      forceSyncGeneration: props.forceSyncGeneration,
    });
    validate(gitRepoSpec, spec, 'GitRepo');
    super(scope, id, 'GitRepo', props, spec);
    if (clientSecret !== undefined) addSecretSource(this, 'client-secret', clientSecret, wanted.git);
    if (helmSecret !== undefined) addSecretSource(this, 'helm-secret', helmSecret, wanted.helm);
  }
}

/** `ssh://…`, or as scp writes it: `git@host:path`. */
function isSsh(repo: string): boolean {
  return repo.startsWith('ssh://') || /^[^/:]+@[^/:]+:/.test(repo);
}

class ReferencedGitRepo extends ReferencedObject {
  constructor(scope: Construct, id: string, name: string, options: ReferenceOptions) {
    super(scope, id, 'GitRepo', name, options);
  }
}

/** The GitRepo as an object, after what makes its Secrets. Throws INVALID_ARGUMENT. */
export function synthGitRepo(props: GitRepoProps): KubeObject[] {
  return synthesizeOne((chart) => new GitRepo(chart, 'repo', { ...props, allowSecrets: true }));
}
