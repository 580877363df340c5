/** Construct of a Cluster: declared by its clientID, or with a kubeconfig that lies on the hub. */
import type { Construct } from 'constructs';
import { clusterSpec } from '../../api/fleet/cluster.ts';
import { MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { given, HubObject } from './hub-object.ts';
import type { HubObjectProps } from './hub-object.ts';
import type { EnvVar, ResourceRequirements, SchedulingCustomization, Toleration } from './props.ts';
import { ChartOf, synthesize } from './synthesize.ts';

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
export interface RegisteredClusterProps extends HubObjectProps {
  /** Secret on the hub with the kubeconfig (key `value`), such as Cluster API's: the hub then installs the agent. */
  readonly kubeconfigSecret?: { readonly name: string; readonly namespace?: string };
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

/** A cluster that is registered, or may register itself. Credentials are references only. Throws INVALID_ARGUMENT. */
export class RegisteredCluster extends HubObject {
  constructor(scope: Construct, id: string, props: RegisteredClusterProps) {
    const spec = specOf(props);
    validate(clusterSpec, spec, 'RegisteredCluster');
    super(scope, id, 'Cluster', props, spec);
  }
}

/** The Cluster as an object. Throws INVALID_ARGUMENT. */
export function synthCluster(props: RegisteredClusterProps): KubeObject[] {
  return synthesize((app) => new ChartOf(app, (chart) => new RegisteredCluster(chart, 'cluster', props)));
}

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
    kubeConfigSecret: secret?.name,
    kubeConfigSecretNamespace: secret?.namespace,
    redeployAgentGeneration: redeploy,
    paused: props.paused,
    templateValues: props.templateValues,
    agentNamespace: agent.namespace,
    agentEnvVars: agent.envVars,
    agentTolerations: agent.tolerations,
    agentAffinity: agent.affinity,
    agentResources: agent.resources,
    agentSchedulingCustomization: agent.schedulingCustomization,
    agentPullSecrets: agent.imagePullSecrets?.map((name) => ({ name })),
    hostNetwork: agent.hostNetwork,
    privateRepoURL: agent.privateRepoURL,
  });
}
