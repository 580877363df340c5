import type { CustomResourceOptions, Input, Output } from '@pulumi/pulumi';
import type { AgentSettings } from './agent-settings.ts';
import type { CommonArgs, ConditionOutput, Deep, HubConnectionArgs, MetadataArgs } from './inputs.ts';
import { MusterResource } from './muster-resource.ts';

/** Arguments of {@link Cluster}. */
export interface ClusterArgs extends CommonArgs {
  readonly metadata?: Input<MetadataArgs>;
  /**
   * Kubeconfig of the downstream cluster, as text: the hub connects with it, installs the agent, and removes it again.
   * It is stored on the hub in the Secret `NAME-kubeconfig`, and kept as a secret here. Exec plugins, file references and
   * insecure-skip-tls-verify are refused, because the hub would run or trust them.
   * Without it and without `kubeconfigSecret` the cluster is declared by `clientID` alone and its agent registers itself.
   */
  readonly kubeconfig?: Input<string>;
  /** A Secret on the hub that holds the kubeconfig already (key `value`), such as the one Cluster API makes. */
  readonly kubeconfigSecret?: Input<{ readonly name: Input<string>; readonly namespace?: Input<string> }>;
  /** Address of the hub for this cluster's agent. Default: the hub's configuration. Needs `kubeconfig`. */
  readonly apiServerURL?: Input<string>;
  /** Certificate authority of that address, PEM. Default: the hub's configuration. Needs `kubeconfig`. */
  readonly apiServerCA?: Input<string>;
  /**
   * Identity by which the agent's request finds this cluster. Default: a random one, unless there is a kubeconfig (then
   * the hub makes it). Changing it replaces the resource.
   */
  readonly clientID?: Input<string>;
  readonly agent?: Deep<AgentSettings>;
  /** Change it to any other number to have the agent installed anew. Needs a kubeconfig. */
  readonly redeploy?: Input<number>;
  /** Stop delivery to this cluster. Default: false. */
  readonly paused?: Input<boolean>;
  /** Values for templates, as `.ClusterValues`. */
  readonly templateValues?: Input<Record<string, unknown>>;
  /**
   * What to do when a new kubeconfig leads to another cluster: `replace` the registration, or fail with WRONG_CLUSTER.
   * Default: `replace`.
   */
  readonly onOtherCluster?: Input<'replace' | 'error'>;
}

/** A cluster registered with the hub: object `Cluster` of `fleet.cattle.io/v1alpha1`. */
export class Cluster extends MusterResource {
  declare readonly metadata: Output<{
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  }>;
  /** UID of the object on the hub. */
  declare readonly uid: Output<string>;
  /** UID of the hub's namespace kube-system; empty when the kubeconfig may not read it. */
  declare readonly hubUID: Output<string>;
  /** UID of the downstream cluster's namespace kube-system; empty when it could not be asked. */
  declare readonly clusterUID: Output<string>;
  declare readonly clientID: Output<string>;
  /** Namespace on the hub that belongs to this cluster alone. */
  declare readonly namespace: Output<string>;
  /** Stages of the registration, in the hub's words. */
  declare readonly conditions: Output<readonly ConditionOutput[]>;
  /**
   * The agent as it reported last; times are RFC 3339, empty before the first heartbeat. Version and nodes of the cluster
   * are told by agents of muster only.
   */
  declare readonly agent: Output<{
    readonly lastSeen: string;
    readonly namespace: string;
    readonly kubernetesVersion?: string;
    readonly nodes?: number;
  }>;
  /** Whether the cluster is registered, its agent was heard, and the hub calls it ready. */
  declare readonly ready: Output<boolean>;
  declare readonly hub: Output<HubConnectionArgs | undefined>;
  declare readonly kubeconfig: Output<string | undefined>;

  constructor(name: string, args: ClusterArgs = {}, options?: CustomResourceOptions) {
    const { agent, ...rest } = args;
    super(
      {
        kind: 'Cluster',
        secrets: ['hub', 'kubeconfig'],
        outputs: ['uid', 'hubUID', 'clusterUID', 'clientID', 'namespace', 'conditions', 'agent', 'ready', 'metadata'],
      },
      name,
      { ...rest, agentSettings: agent },
      options,
    );
  }
}
