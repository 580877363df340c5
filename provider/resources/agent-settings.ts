/** How the agent's workload looks in its cluster; the shapes are Kubernetes' own. */
export interface AgentSettings {
  /** Namespace of the agent. Default: `cattle-fleet-system`. */
  readonly namespace?: string;
  /** Extra environment, such as HTTPS_PROXY and NO_PROXY. */
  readonly envVars?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: Record<string, unknown>;
  }[];
  /** Added to the default tolerations. */
  readonly tolerations?: readonly {
    readonly key?: string;
    readonly operator?: string;
    readonly value?: string;
    readonly effect?: string;
    readonly tolerationSeconds?: number;
  }[];
  /** Replaces the default affinity. */
  readonly affinity?: Record<string, unknown>;
  /** Replaces the default requests and limits. */
  readonly resources?: {
    readonly requests?: Record<string, string | number>;
    readonly limits?: Record<string, string | number>;
  };
  /**
   * Names of pull Secrets that exist downstream. Given, even empty, they take the place of those that the hub's
   * configuration names and copies there.
   */
  readonly imagePullSecrets?: readonly string[];
  /** Use the node's network. Default: false. */
  readonly hostNetwork?: boolean;
  /** Registry put before the agent's image. */
  readonly privateRepoURL?: string;
  readonly schedulingCustomization?: {
    readonly priorityClass?: { readonly value?: number; readonly preemptionPolicy?: string };
    readonly podDisruptionBudget?: { readonly minAvailable?: string; readonly maxUnavailable?: string };
  };
}
