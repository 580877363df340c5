import type { CustomResourceOptions, Input, Output } from '@pulumi/pulumi';
import type { CommonArgs, Deep, HubConnectionArgs, MetadataArgs } from './inputs.ts';
import { MusterResource } from './muster-resource.ts';

/** Which clusters, by their labels; every part that is given must hold. An empty selector takes all. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Arguments of {@link ClusterGroup}. */
export interface ClusterGroupArgs extends CommonArgs {
  readonly metadata?: Input<MetadataArgs>;
  /** Clusters of the group's workspace that belong to it. */
  readonly selector: Deep<LabelSelector>;
}

/**
 * Clusters that are addressed together: `ClusterGroup` of `fleet.cattle.io/v1alpha1`. The counts are those of the last
 * `pulumi up` or `refresh` that looked; clusters come and go without this resource being changed.
 */
export class ClusterGroup extends MusterResource {
  declare readonly metadata: Output<{
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  }>;
  declare readonly uid: Output<string>;
  declare readonly hubUID: Output<string>;
  declare readonly selector: Output<LabelSelector>;
  declare readonly clusterCount: Output<number>;
  declare readonly readyClusterCount: Output<number>;
  declare readonly nonReadyClusterCount: Output<number>;
  /** Names, ten at most. */
  declare readonly nonReadyClusters: Output<readonly string[]>;
  declare readonly hub: Output<HubConnectionArgs | undefined>;

  constructor(name: string, args: ClusterGroupArgs, options?: CustomResourceOptions) {
    super(
      {
        kind: 'ClusterGroup',
        secrets: ['hub'],
        outputs: [
          'uid',
          'hubUID',
          'clusterCount',
          'readyClusterCount',
          'nonReadyClusterCount',
          'nonReadyClusters',
          'metadata',
        ],
      },
      name,
      args,
      options,
    );
  }
}
