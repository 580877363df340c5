import type { CustomResourceOptions, Input, Output } from '@pulumi/pulumi';
import type { AgentSettings } from './agent-settings.ts';
import type { CommonArgs, Deep, HubConnectionArgs } from './inputs.ts';
import { MusterResource } from './muster-resource.ts';

/** Arguments of {@link AgentRelease}. */
export interface AgentReleaseArgs extends CommonArgs {
  /**
   * Kubeconfig of the downstream cluster, as text or path; used from where `pulumi` runs. Kept as a secret. Required,
   * except with `render`.
   */
  readonly kubeconfig?: Input<string>;
  /** Context of that kubeconfig. Default: its current context. */
  readonly context?: Input<string>;
  /** `values` of a ClusterRegistrationToken. Kept as a secret. */
  readonly values: Input<string>;
  /**
   * Apply nothing, and give the manifests as the output `manifest` instead: for a cluster that this program cannot reach,
   * by way of cloud-init or a k3s manifests folder. `awaitReady` is then false: let the Cluster wait. Changing it replaces
   * the release. Default: false.
   */
  readonly render?: Input<boolean>;
  /**
   * Whose agent the image holds; Fleet's has its own command, rights and environment. Default: `fleet` for an image named
   * `fleet-agent`, else `muster`. Either takes over from the other in place, with the registration that it has.
   */
  readonly program?: Input<'muster' | 'fleet'>;
  readonly image: Input<string>;
  readonly imagePullPolicy?: Input<'Always' | 'IfNotPresent' | 'Never'>;
  readonly imagePullSecrets?: Input<readonly Input<string>[]>;
  /** Pods; one works, the others stand by. Default: 1. */
  readonly replicas?: Input<number>;
  /** Identity at the hub. Default: the UID of the cluster's namespace kube-system. Changing it replaces the release. */
  readonly clientID?: Input<string>;
  /** Labels that the agent asks for when it registers. */
  readonly labels?: Input<Record<string, Input<string>>>;
  readonly agent?: Deep<AgentSettings>;
  /** Time between heartbeats, a Go duration. Default: `15m`. */
  readonly checkinInterval?: Input<string>;
  readonly agentTLSMode?: Input<'system-store' | 'strict'>;
  /** Registry prefix of `image` that `agent.privateRepoURL` replaces. Default: none. */
  readonly systemDefaultRegistry?: Input<string>;
  /** Time between clean-ups, a Go duration. Default: the agent's own, `15m`. */
  readonly garbageCollectionInterval?: Input<string>;
  /** Reconciles at a time, as text. Default: `50` each. */
  readonly workers?: Input<{ readonly bundledeployment?: Input<string>; readonly drift?: Input<string> }>;
  /** Change it to any other number to have the agent restarted. */
  readonly redeploy?: Input<number>;
  /**
   * Whether the agent installs workloads, for which it needs every right on its cluster. Default: true for Fleet's agent,
   * which cannot work without, else false.
   */
  readonly deploysWorkloads?: Input<boolean>;
  /**
   * The Cluster on the hub that this agent serves. With it, `awaitReady` waits not only for the agent's pods but until
   * the hub calls that Cluster ready. Default: only the pods are awaited.
   */
  readonly cluster?: Input<{ readonly name: Input<string>; readonly namespace: Input<string> }>;
  /**
   * What to do when a new kubeconfig leads to another cluster: `replace` the release, or fail with WRONG_CLUSTER.
   * Default: `replace`.
   */
  readonly onOtherCluster?: Input<'replace' | 'error'>;
}

/**
 * The agent in a downstream cluster, as one release: installed, upgraded and removed from here. To roll back, set `image`
 * (and whatever else was changed) to what it was; the registration stays through every change but that of `clientID`.
 */
export class AgentRelease extends MusterResource {
  declare readonly image: Output<string>;
  /** Namespace of the agent. */
  declare readonly namespace: Output<string>;
  /** UID of the downstream cluster's namespace kube-system. */
  declare readonly clusterUID: Output<string>;
  declare readonly ready: Output<boolean>;
  declare readonly objects: Output<readonly string[]>;
  /** Image of the release before this one, to roll back to; empty for the first. */
  declare readonly previousImage: Output<string>;
  /** What to apply in the cluster, YAML, with `render` only. A secret: it holds the token. */
  declare readonly manifest: Output<string | undefined>;
  declare readonly hub: Output<HubConnectionArgs | undefined>;
  declare readonly kubeconfig: Output<string | undefined>;
  declare readonly values: Output<string>;

  constructor(name: string, args: AgentReleaseArgs, options?: CustomResourceOptions) {
    const { agent, ...rest } = args;
    super(
      {
        kind: 'AgentRelease',
        secrets: ['hub', 'kubeconfig', 'values', 'manifest'],
        outputs: ['namespace', 'clusterUID', 'ready', 'objects', 'previousImage', 'manifest'],
      },
      name,
      { ...rest, agentSettings: agent },
      options,
    );
  }
}
