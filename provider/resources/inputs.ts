/** Argument types that the resources share; the names are those of Pulumi's Kubernetes provider. */
import type { Input } from '@pulumi/pulumi';

/** A value in which every part may be an output of another resource. */
export type Deep<T> = Input<
  T extends readonly (infer E)[] ? readonly Deep<E>[] : T extends object ? { [K in keyof T]: Deep<T[K]> } : T
>;

/** How to reach a hub. */
export interface HubConnectionArgs {
  /** Kubeconfig, as text or as the path of a file. Kept as a secret. */
  readonly kubeconfig: Input<string>;
  /** Default: the kubeconfig's current context. */
  readonly context?: Input<string>;
}

/** Name and labels of an object on the hub. */
export interface MetadataArgs {
  /** Default: the resource's name and a random suffix. Changing it replaces the resource. */
  readonly name?: Input<string>;
  /** Workspace. Default: `fleet-default`. Changing it replaces the resource. */
  readonly namespace?: Input<string>;
  /** Only these are managed: labels that others add stay. Default: none. */
  readonly labels?: Input<Record<string, Input<string>>>;
  readonly annotations?: Input<Record<string, Input<string>>>;
}

/** Deadlines of one operation each, as Go durations such as `10m`. */
export interface TimeoutsArgs {
  /** Default: `5m`. */
  readonly create?: Input<string>;
  /** Default: `5m`. */
  readonly update?: Input<string>;
  /** Default: `3m`. */
  readonly delete?: Input<string>;
}

/** What every resource takes. */
export interface CommonArgs {
  /** Default: the configuration `muster:hubKubeconfig`, else the environment MUSTER_HUB_KUBECONFIG. */
  readonly hub?: Input<HubConnectionArgs>;
  /** Whether `pulumi up` waits until the resource works. Default: true. */
  readonly awaitReady?: Input<boolean>;
  readonly timeouts?: Input<TimeoutsArgs>;
}

/** A condition of an object on the hub, without its times. */
export interface ConditionOutput {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
