import type { CustomResourceOptions, Input, Output } from '@pulumi/pulumi';
import type { AgentSettings } from './agent-settings.ts';
import type { LabelSelector } from './cluster-group.ts';
import type { CommonArgs, ConditionOutput, Deep, HubConnectionArgs, MetadataArgs } from './inputs.ts';
import { MusterResource } from './muster-resource.ts';

/** What is registered: exactly one of these. */
export interface RuleSource {
  /** Clusters of Cluster API, with their Secret `NAME-kubeconfig`; v1beta2 or v1beta1, whichever the hub serves. */
  readonly clusterAPI?: Record<string, never>;
  /** Secrets that hold a kubeconfig; the rule needs a `selector` for them. */
  readonly kubeconfigSecret?: {
    /** Default: `value`. */
    readonly key?: string;
  };
  /** ClusterProfiles of other cluster managers whose credential is in a Secret. */
  readonly clusterProfile?: {
    /** Which of the profile's access providers. Default: the first whose credential is in a Secret. */
    readonly accessProvider?: string;
  };
}

/** Which labels or annotations a registration has. */
export interface RulePass {
  /** Keys that pass from the source; `*` stands for any text. Default: none. */
  readonly pass?: readonly string[];
  /** Further ones; `{name}`, `{namespace}` and `{class}` in values stand for the source and its ClusterClass. */
  readonly set?: Readonly<Record<string, string>>;
}

/** How sources are registered. */
export interface RuleRegistration {
  /** Default: `fleet`. */
  readonly protocol?: 'fleet';
  /** `Manager`: the hub installs the agent with the kubeconfig. `Agent`: it registers itself with a token. Default: `Manager`. */
  readonly mode?: 'Manager' | 'Agent';
  /** Namespace of the registrations. Default: that of the source. */
  readonly workspace?: string;
  /** With the placeholders `{name}`, `{namespace}` and `{class}` of the source. Default: `{name}`. */
  readonly name?: string;
  readonly labels?: RulePass;
  readonly annotations?: RulePass;
  readonly agent?: AgentSettings;
  /** With mode `Agent`: life of the token of each agent, a Go duration. Default: `24h`. */
  readonly token?: { readonly ttl?: string };
  /** A ClusterGroup per ClusterClass, or per ClusterClass and Kubernetes version. Default: `None`. */
  readonly groups?: { readonly by?: 'Class' | 'Topology' | 'None' };
}

/** What happens when a source is deleted, or no rule selects it any more. */
export interface RuleOnSourceDeleted {
  /** `Detach`: remove agent and registration. `Keep`: leave the registration to its users. Default: `Detach`. */
  readonly action?: 'Detach' | 'Keep';
  /** How long the registration stays after its source went, a Go duration. Default: `0s`. */
  readonly delay?: string;
  /** How long a source that is being deleted is held at most, a Go duration. Default: `60s`. */
  readonly timeout?: string;
}

/** Arguments of {@link RegistrationRule}. */
export interface RegistrationRuleArgs extends CommonArgs {
  /** Rules are the whole hub's: they have no namespace. */
  readonly metadata?: Input<Omit<MetadataArgs, 'namespace'>>;
  readonly source: Deep<RuleSource>;
  /** Namespaces of sources. Default: all that the label `muster.dev/source: "true"` opens to the hub. */
  readonly namespaceSelector?: Deep<LabelSelector>;
  /** Sources, by their labels. Default: all of them. */
  readonly selector?: Deep<LabelSelector>;
  /** Register and change nothing; sources that are deleted are detached all the same. Default: false. */
  readonly suspend?: Input<boolean>;
  /** Of the rules that select one source the highest wins, then the oldest, then by name. Default: 0. */
  readonly priority?: Input<number>;
  readonly registration?: Deep<RuleRegistration>;
  readonly onSourceDeleted?: Deep<RuleOnSourceDeleted>;
}

/**
 * Clusters that are registered as their sources come and go, with nobody's help: `RegistrationRule` of
 * `muster.dev/v1alpha1`, on a hub of muster. `pulumi up` waits until the hub has taken up the rule, not for clusters; the
 * counts are those of the last `up` or `refresh` that looked. When the rule is removed, `onSourceDeleted` says what becomes
 * of what it has registered.
 */
export class RegistrationRule extends MusterResource {
  declare readonly metadata: Output<{
    readonly name: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  }>;
  declare readonly uid: Output<string>;
  declare readonly hubUID: Output<string>;
  /** Sources that the rule registers. */
  declare readonly matched: Output<number>;
  /** Of those, the ones whose cluster is registered. */
  declare readonly registered: Output<number>;
  /** Of those, the ones that cannot be registered as they are; the hub says why on each of them. */
  declare readonly failed: Output<number>;
  declare readonly conditions: Output<readonly ConditionOutput[]>;
  declare readonly hub: Output<HubConnectionArgs | undefined>;

  constructor(name: string, args: RegistrationRuleArgs, options?: CustomResourceOptions) {
    super(
      {
        kind: 'RegistrationRule',
        secrets: ['hub'],
        outputs: ['uid', 'hubUID', 'matched', 'registered', 'failed', 'conditions', 'metadata'],
      },
      name,
      args,
      options,
    );
  }
}
