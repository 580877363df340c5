/** What the charts take. Kubernetes' own shapes (tolerations, affinity, …) are passed through as they are. */
import type { BootstrapValues } from '../../api/fleet/bootstrap-values.ts';
import type { HubAddress } from '../../api/fleet/hub-address.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import type { ProtocolProps } from '../protocol.ts';
import type { ExternalSecretSource, SealedSecretSource, SecretSource } from '../secrets/source.ts';

/** One environment variable of a container; `valueFrom` as in Kubernetes. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: Readonly<Record<string, unknown>>;
}

/** A toleration as in Kubernetes. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** Resource requests and limits as in Kubernetes. */
export interface ResourceRequirements {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
  readonly claims?: readonly Readonly<Record<string, unknown>>[];
}

/** A pull Secret: by its name, or with what makes it. */
export type PullSecret = string | { readonly name?: string | undefined } | ExternalSecretSource | SealedSecretSource;

/** What hub and agent have in common. */
export interface WorkloadProps extends ProtocolProps {
  /** Container image. Required. */
  readonly image: string;
  /** `Always`, `IfNotPresent` or `Never`. Default: what Kubernetes takes for the image's tag. */
  readonly imagePullPolicy?: string;
  /**
   * Names of Secrets in the workload's namespace, or how External Secrets or Sealed Secrets make one there (of type
   * `kubernetes.io/dockerconfigjson`; `externalSecret.name` is then required). Order has no meaning. Default: none.
   */
  readonly imagePullSecrets?: readonly PullSecret[];
  /** Pods; the one that holds the Lease works, the others stand by. Default: 1. */
  readonly replicas?: number;
  /** Added to the container's environment; a name that muster sets itself is overridden. Default: none. */
  readonly envVars?: readonly EnvVar[];
  /** Added to the two default tolerations. Order has no meaning. Default: none. */
  readonly tolerations?: readonly Toleration[];
  /** Requests and limits; replaces the defaults (requests only) as a whole. */
  readonly resources?: ResourceRequirements;
  /** Use the node's network, with strategy Recreate so that two pods never want one port. Default: false. */
  readonly hostNetwork?: boolean;
  /**
   * Let manifests hold a credential in clear, such as `bootstrap`, for those who apply them without committing them.
   * Default: false; such a manifest is refused with SECRET_IN_CLEAR. The functions `synth…` do not look at it: they
   * return objects and write no file.
   */
  readonly allowSecrets?: boolean;
}

/** Scheduling of the agent, as in `spec.agentSchedulingCustomization` of a Cluster. */
export interface SchedulingCustomization {
  readonly priorityClass?: { readonly value?: number; readonly preemptionPolicy?: string };
  /** Numbers or percentages as text. Both other than `0` is an error; neither means `maxUnavailable: 0`. */
  readonly podDisruptionBudget?: { readonly minAvailable?: string; readonly maxUnavailable?: string };
}

/** The agent in a downstream cluster. */
export interface AgentProps extends WorkloadProps {
  /** Default: `cattle-fleet-system`. */
  readonly namespace?: string;
  /**
   * Whose program the image holds. Fleet's has its own command, needs every right on its cluster, and answers no probe
   * until it leads. Default: by the image's name (isFleetImage).
   */
  readonly program?: 'muster' | 'fleet';
  /** Default: `['muster', 'agent']`, or `['fleetagent']` for the program of Fleet. */
  readonly command?: readonly string[];
  /** Registry (and path) put before the image (Fleet: privateRepoURL). Default: none. */
  readonly privateRepoURL?: string;
  /** Registry prefix that `privateRepoURL` replaces (Fleet: systemDefaultRegistry). Default: none. */
  readonly systemDefaultRegistry?: string;
  /** Keeps apart several agents of one cluster; a Cluster's `spec.agentNamespace`. Default: empty. */
  readonly agentScope?: string;
  /** Time between heartbeats, a Go duration. Default: `15m`. */
  readonly checkinInterval?: string;
  /** Replaces the default affinity (prefers nodes labelled `fleet.cattle.io/agent=true`). */
  readonly affinity?: Readonly<Record<string, unknown>>;
  readonly schedulingCustomization?: SchedulingCustomization;
  /** Identity at the hub. Default: the agent takes the UID of the namespace kube-system. */
  readonly clientID?: string;
  /** Labels that the agent asks for when it registers. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** `system-store` or `strict`. Default: the agent's own (`system-store`). */
  readonly agentTLSMode?: string;
  /** A Go duration. Default: the agent's own (`15m`). */
  readonly garbageCollectionInterval?: string;
  /** Reconciles at a time, as text (Fleet: agentWorkers). Default: 50 each. */
  readonly workers?: { readonly bundledeployment?: string; readonly drift?: string };
  /**
   * Where the hub is, for an agent that is registered already: ours follows it without a restart, Fleet's is restarted.
   * Default: none; an agent stays with the address that it registered at.
   */
  readonly hubAddress?: HubAddress;
  /** Values of a registration token. Given: the manifests hold a credential, so do not commit them to Git. */
  readonly bootstrap?: BootstrapValues;
  /**
   * What makes Secret `fleet-agent-bootstrap` of the agent's namespace, instead of `bootstrap`. An ExternalSecret takes the
   * token's whole values file as one entry (key `values`); with `extract`, an entry with its keys. Default: nobody here;
   * the agent waits for the Secret.
   */
  readonly bootstrapSecret?: SecretSource;
  /** Restarts the agent when it changes (a Cluster's `spec.redeployAgentGeneration`). Default: none. */
  readonly redeployGeneration?: number;
  /**
   * Whether the agent installs workloads. False: it may only register and report. True: every right on its cluster,
   * as Fleet's agent has, because bundles may hold anything. Default: only for the program of Fleet.
   */
  readonly deploysWorkloads?: boolean;
}

/** The hub. */
export interface HubProps extends WorkloadProps {
  /** System namespace. Default: `cattle-fleet-system`. */
  readonly namespace?: string;
  /**
   * Written to ConfigMap `fleet-controller`. `agentImage` defaults to `image`, as one image serves both; `apiServerCA`
   * may be PEM text as well as the base64 of it that the ConfigMap holds.
   */
  readonly config: HubConfig;
  /**
   * Namespaces that may hold Clusters and tokens: made, labelled and opened to the hub. More can be added later by
   * the label `muster.dev/workspace=true`. Order has no meaning. Default: `fleet-default` and `fleet-local`.
   */
  readonly workspaces?: readonly string[];
}
