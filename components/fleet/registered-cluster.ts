/** Construct of a Cluster: declared by its clientID, or with a kubeconfig that lies on the hub. */
import type { Construct } from 'constructs';
import { agentFields } from '../../api/fleet/agent-settings.ts';
import { defaults, secretKeys } from '../../api/fleet/constants.ts';
import { clusterSpec } from '../../api/fleet/cluster.ts';
import { MusterError } from '../../api/errors.ts';
import { given } from '../../api/given.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { checkProtocol } from '../protocol.ts';
import type { ProtocolProps } from '../protocol.ts';
import { addSecretSource, secretNameOf } from '../secrets/add-secret-source.ts';
import type { WantedSecret } from '../secrets/add-secret-source.ts';
import type { SecretReference, SecretSource } from '../secrets/source.ts';
import { HubObject, ReferencedObject } from './hub-object.ts';
import type { HubObjectProps, ReferenceOptions } from './hub-object.ts';
import type { EnvVar, ResourceRequirements, SchedulingCustomization, Toleration } from './props.ts';
import { synthesizeOne } from './synthesize.ts';
import type { ITarget, TargetProps } from './target.ts';

/** How the hub installs the agent; with a cluster that registers itself, it is the installer that decides. */
export interface ClusterAgentProps {
  /** Namespace of the agent downstream. Default: `cattle-fleet-system`. */
  readonly namespace?: string;
  /** Environment, such as HTTPS_PROXY. Take secret values from Secrets downstream (`valueFrom`). Default: none. */
  readonly envVars?: readonly EnvVar[];
  /** Added to the default tolerations. Default: none. */
  readonly tolerations?: readonly Toleration[];
  /** Replaces the default affinity. */
  readonly affinity?: Readonly<Record<string, unknown>>;
  /** Replaces the default requests. */
  readonly resources?: ResourceRequirements;
  /** Priority class and disruption budget. Default: neither. */
  readonly schedulingCustomization?: SchedulingCustomization;
  /** Pull Secrets that exist downstream. Default: those of the hub's configuration are copied there. */
  readonly imagePullSecrets?: readonly string[];
  /** Default: false. */
  readonly hostNetwork?: boolean;
  /** Registry put before the agent's image. Default: none. */
  readonly privateRepoURL?: string;
}

/** Props of {@link RegisteredCluster}; exactly one of `kubeconfigSecret` and `clientID`. */
export interface RegisteredClusterProps extends HubObjectProps, ProtocolProps {
  /**
   * Secret on the hub with the kubeconfig (key `value`), such as Cluster API's: the hub then installs the agent. An existing
   * one may lie in any namespace that is open to the hub; what makes one goes into the workspace. An ExternalSecret takes
   * the kubeconfig as one entry. Default name: `NAME-kubeconfig`.
   */
  readonly kubeconfigSecret?: SecretSource;
  /** Identity by which the request of an agent that registers itself finds this cluster. It is no secret. */
  readonly clientID?: string;
  readonly agent?: ClusterAgentProps;
  /** Change it to any other number to have the agent installed anew. Needs `kubeconfigSecret`. */
  readonly redeploy?: number;
  /** Stop delivery to this cluster. Default: false. */
  readonly paused?: boolean;
  /** Values for templates, as `.ClusterValues`; readable by who may read the Cluster, so no secrets. */
  readonly templateValues?: Readonly<Record<string, unknown>>;
}

/** A Cluster made here or elsewhere. */
export type IRegisteredCluster = ITarget;

/** What the `from…` factories take beside the name. */
export type RegisteredClusterOptions = Omit<RegisteredClusterProps, 'name' | 'kubeconfigSecret' | 'clientID'>;

/** A cluster that is registered, or may register itself. Credentials are references only. Throws INVALID_ARGUMENT. */
export class RegisteredCluster extends HubObject implements IRegisteredCluster {
  /** A Cluster that exists already. Throws INVALID_ARGUMENT. */
  static fromRegisteredClusterName(
    scope: Construct,
    id: string,
    name: string,
    options: ReferenceOptions = {},
  ): IRegisteredCluster {
    return new ReferencedCluster(scope, id, name, options);
  }

  /** The hub installs the agent with the kubeconfig of a Secret (key `value`). Throws INVALID_ARGUMENT. */
  static fromKubeconfigSecret(
    scope: Construct,
    id: string,
    name: string,
    kubeconfigSecret: SecretSource,
    options: RegisteredClusterOptions = {},
  ): RegisteredCluster {
    return new RegisteredCluster(scope, id, { ...options, name, kubeconfigSecret });
  }

  /** Its agent registers itself, and is known by its clientID. Throws INVALID_ARGUMENT. */
  static fromClientId(
    scope: Construct,
    id: string,
    name: string,
    clientID: string,
    options: Omit<RegisteredClusterOptions, 'redeploy'> = {},
  ): RegisteredCluster {
    return new RegisteredCluster(scope, id, { ...options, name, clientID });
  }

  /**
   * One `Cluster` of Cluster API, by its Secret `NAME-kubeconfig`. For all of them, as they come and go, use a
   * RegistrationRule. Throws INVALID_ARGUMENT.
   * @param source name and namespace of the Cluster API object; the workspace is that namespace unless options name one,
   * and has to be open to the hub either way
   */
  static fromClusterApi(
    scope: Construct,
    id: string,
    source: Required<SecretReference>,
    options: RegisteredClusterOptions & { readonly name?: string } = {},
  ): RegisteredCluster {
    const { name = source.name, namespace = source.namespace } = options;
    const kubeconfigSecret = { name: `${source.name}-kubeconfig`, namespace: source.namespace };
    return new RegisteredCluster(scope, id, { ...options, name, namespace, kubeconfigSecret });
  }

  readonly target: TargetProps;

  constructor(scope: Construct, id: string, props: RegisteredClusterProps) {
    checkProtocol(props.protocol, 'RegisteredCluster.protocol');
    const spec = specOf(props);
    validate(clusterSpec, spec, 'RegisteredCluster');
    super(scope, id, 'Cluster', props, spec);
    this.target = { clusterName: this.name };
    const { kubeconfigSecret } = props;
    if (kubeconfigSecret !== undefined) addSecretSource(this, 'kubeconfig', kubeconfigSecret, wantedKubeconfig(props));
  }
}

class ReferencedCluster extends ReferencedObject implements IRegisteredCluster {
  readonly target: TargetProps;

  constructor(scope: Construct, id: string, name: string, options: ReferenceOptions) {
    super(scope, id, 'Cluster', name, options);
    this.target = { clusterName: this.name };
  }
}

/** The Cluster as an object. Throws INVALID_ARGUMENT. */
export function synthCluster(props: RegisteredClusterProps): KubeObject[] {
  return synthesizeOne((chart) => new RegisteredCluster(chart, 'cluster', { ...props, allowSecrets: true }));
}

const wantedKubeconfig = ({ name, namespace = defaults.defaultNamespace }: RegisteredClusterProps): WantedSecret => ({
  name: `${name}-kubeconfig`,
  namespace,
  key: secretKeys.kubeconfig,
  where: `RegisteredCluster ${name}: kubeconfigSecret`,
  elsewhere: true,
});

function specOf(props: RegisteredClusterProps): Record<string, unknown> {
  const { kubeconfigSecret: secret, clientID, agent = {}, redeploy } = props;
  if ((secret === undefined) === (clientID === undefined || clientID === ''))
    throw new MusterError('INVALID_ARGUMENT', 'give one of kubeconfigSecret and clientID', {
      where: `RegisteredCluster ${props.name}`,
      hint: 'kubeconfigSecret: the hub installs the agent. clientID: the agent registers itself with a token.',
    });
  if (redeploy !== undefined && secret === undefined)
    throw new MusterError('INVALID_ARGUMENT', 'needs kubeconfigSecret: who installed the agent has to do it again', {
      where: `RegisteredCluster ${props.name}: redeploy`,
    });
  return given({
    clientID,
    kubeConfigSecret: secret && secretNameOf(secret, wantedKubeconfig(props)),
    kubeConfigSecretNamespace: secret !== undefined && 'name' in secret ? secret.namespace : undefined,
    redeployAgentGeneration: redeploy,
    paused: props.paused,
    templateValues: props.templateValues,
    ...agentFields(agent),
  });
}
