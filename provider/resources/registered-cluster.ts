import { ComponentResource, mergeOptions, output, Output, secret } from '@pulumi/pulumi';
import type { ComponentResourceOptions, CustomResourceOptions, Input } from '@pulumi/pulumi';
import { labels } from '../../api/fleet/constants.ts';
import { given } from '../../api/given.ts';
import { AgentRelease } from './agent-release.ts';
import type { AgentSettings } from './agent-settings.ts';
import { Cluster } from './cluster.ts';
import { ClusterRegistrationToken } from './cluster-registration-token.ts';
import type { CommonArgs, Deep, MetadataArgs } from './inputs.ts';

/** Arguments of {@link RegisteredCluster} in every mode. */
export interface RegisteredClusterCommonArgs extends CommonArgs {
  /** Default name: the component's name and a random suffix. */
  readonly metadata?: Input<MetadataArgs>;
  readonly agent?: Deep<AgentSettings>;
}

/** The hub connects to the cluster with the kubeconfig and installs the agent. */
export interface ByKubeconfigArgs extends RegisteredClusterCommonArgs {
  readonly mode?: 'kubeconfig';
  /** Kubeconfig of the downstream cluster; may be unknown until that cluster is made. */
  readonly kubeconfig: Input<string>;
  readonly apiServerURL?: Input<string>;
  readonly apiServerCA?: Input<string>;
}

/** What the modes have in common in which the agent registers itself with a token. */
export interface SelfRegistrationArgs extends RegisteredClusterCommonArgs {
  /** Image of the agent. */
  readonly image: Input<string>;
  /** Whose agent the image holds. Default: by its name. */
  readonly program?: Input<'muster' | 'fleet'>;
  readonly imagePullPolicy?: Input<'Always' | 'IfNotPresent' | 'Never'>;
  /** A token to share between clusters of one workspace. Default: one for this cluster alone. */
  readonly token?: ClusterRegistrationToken;
  /** Life of the cluster's own token; it is not renewed once the cluster is registered. Default: `12h`. */
  readonly tokenTtl?: Input<string>;
  readonly checkinInterval?: Input<string>;
  readonly agentTLSMode?: Input<'system-store' | 'strict'>;
  readonly deploysWorkloads?: Input<boolean>;
}

/**
 * This program installs the agent with the kubeconfig, and the agent registers itself with a token: for clusters that
 * the hub cannot reach. The hub never sees the kubeconfig.
 */
export interface ByTokenArgs extends SelfRegistrationArgs {
  readonly mode: 'token';
  /** Kubeconfig of the downstream cluster; may be unknown until that cluster is made. */
  readonly kubeconfig: Input<string>;
  readonly context?: Input<string>;
}

/**
 * For clusters that nobody here can reach: nothing is installed, the output `manifest` says what to apply there, by
 * cloud-init or a k3s manifests folder. Nothing waits for the agent.
 */
export interface ByManifestArgs extends SelfRegistrationArgs {
  readonly mode: 'manifest';
}

export type RegisteredClusterArgs = ByKubeconfigArgs | ByTokenArgs | ByManifestArgs;

/** One cluster, registered, in one call. Its parts are ordinary resources below it. */
export class RegisteredCluster extends ComponentResource {
  readonly cluster: Cluster;
  /** Only with the modes `token` and `manifest`. */
  readonly agentRelease: AgentRelease | undefined;
  readonly name: Output<string>;
  /** Namespace on the hub that belongs to this cluster alone. */
  readonly namespace: Output<string>;
  readonly ready: Output<boolean>;
  /** With `mode: 'manifest'` what to apply in the cluster, YAML; else empty. A secret: it holds the token. */
  readonly manifest: Output<string>;

  constructor(name: string, args: RegisteredClusterArgs, options?: ComponentResourceOptions) {
    super('muster:index:RegisteredCluster', name, {}, options);
    // A component's own dependsOn does not reach its children by itself.
    const child: CustomResourceOptions = {
      parent: this,
      ...(options?.dependsOn ? { dependsOn: options.dependsOn } : {}),
    };
    if (args.mode === 'token' || args.mode === 'manifest') {
      this.cluster = this.#declared(name, args, child);
      this.agentRelease = this.#withAgent(name, args, this.cluster, child);
    } else {
      const { mode: _, ...rest } = args;
      this.cluster = new Cluster(name, rest, child);
      this.agentRelease = undefined;
    }
    this.name = this.cluster.metadata.name;
    this.namespace = this.cluster.namespace;
    const byManifest = args.mode === 'manifest';
    this.ready = byManifest ? this.cluster.ready : (this.agentRelease?.ready ?? this.cluster.ready);
    this.manifest = secret((this.agentRelease?.manifest ?? output(undefined)).apply((text) => text ?? ''));
    this.registerOutputs({ name: this.name, namespace: this.namespace, ready: this.ready, manifest: this.manifest });
  }

  /** The Cluster waits for no agent here: the agent is installed after it, and that is where the wait belongs. */
  #declared(name: string, args: SelfRegistrationArgs, options: CustomResourceOptions): Cluster {
    const { hub, metadata, timeouts } = args;
    const shared = { ...given({ hub, timeouts }), metadata: withOwnAgent(metadata), awaitReady: false };
    return new Cluster(name, shared, options);
  }

  #withAgent(
    name: string,
    args: ByTokenArgs | ByManifestArgs,
    cluster: Cluster,
    options: CustomResourceOptions,
  ): AgentRelease {
    const { mode, metadata: _, token: shared, tokenTtl, ...rest } = args;
    const { hub, timeouts } = args;
    const { name: clusterName, namespace } = cluster.metadata;
    const token =
      shared ??
      new ClusterRegistrationToken(
        name,
        { ...given({ hub, timeouts }), metadata: { namespace }, ttl: tokenTtl ?? '12h', renew: false },
        options,
      );
    const registering = { ...rest, values: token.values, clientID: cluster.clientID };
    if (mode === 'manifest') {
      return new AgentRelease(name, { ...registering, awaitReady: false, render: true }, options);
    }
    return new AgentRelease(
      name,
      { ...registering, cluster: { name: clusterName, namespace } },
      mergeOptions(options, { dependsOn: [cluster] }),
    );
  }
}

/**
 * With the label by which a hub knows that it does not keep the agent up to date: one of Fleet would install its own in
 * the place of this, or wait for ever until somebody does. Parts stay apart, so that one unknown label hides no name.
 */
function withOwnAgent(metadata: Input<MetadataArgs> = {}): Input<MetadataArgs> {
  const own = { [labels.nonManagedAgent]: 'true' };
  if (!isPlain(metadata)) return output(metadata).apply((known) => ({ ...known, labels: { ...own, ...known.labels } }));
  const given = metadata.labels ?? {};
  const all = isPlain(given) ? { ...own, ...given } : output(given).apply((known) => ({ ...own, ...known }));
  return { ...metadata, labels: all };
}

function isPlain<T extends object>(value: Input<T>): value is T {
  return !Output.isInstance(value) && !(value instanceof Promise);
}
