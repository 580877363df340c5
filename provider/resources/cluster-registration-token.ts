import type { CustomResourceOptions, Input, Output } from '@pulumi/pulumi';
import type { CommonArgs, HubConnectionArgs, MetadataArgs } from './inputs.ts';
import { MusterResource } from './muster-resource.ts';

/** Arguments of {@link ClusterRegistrationToken}. */
export interface ClusterRegistrationTokenArgs extends CommonArgs {
  readonly metadata?: Input<MetadataArgs>;
  /** Life of the token from its creation, a Go duration such as `12h`. Default: it never expires. */
  readonly ttl?: Input<string>;
  /**
   * Whether an expired token is made anew by the next `pulumi up` (an update, never a replacement). Set it to false for a
   * token whose one use is over. Default: true, but false with `oneUse`.
   */
  readonly renew?: Input<boolean>;
  /**
   * Whether the token registers one cluster and ends with that one's first heartbeat. Only muster's hub knows this; one of
   * Fleet leaves the token as it is. Default: false.
   */
  readonly oneUse?: Input<boolean>;
}

/** A token with which agents register themselves: `ClusterRegistrationToken` of `fleet.cattle.io/v1alpha1`. */
export class ClusterRegistrationToken extends MusterResource {
  declare readonly metadata: Output<{
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  }>;
  declare readonly uid: Output<string>;
  declare readonly hubUID: Output<string>;
  declare readonly ttl: Output<string | undefined>;
  /** When it expires, RFC 3339; empty: never. */
  declare readonly expires: Output<string>;
  /** Whether that time has passed, or its one use is over. */
  declare readonly expired: Output<boolean>;
  /** Name of the Secret on the hub that holds the values. */
  declare readonly secretName: Output<string>;
  /** YAML for the agent: hub address, CA and the token. It is a Helm values file of Fleet's agent chart, too. Secret. */
  declare readonly values: Output<string>;
  declare readonly hub: Output<HubConnectionArgs | undefined>;

  constructor(name: string, args: ClusterRegistrationTokenArgs = {}, options?: CustomResourceOptions) {
    super(
      {
        kind: 'ClusterRegistrationToken',
        secrets: ['hub', 'values'],
        outputs: ['uid', 'hubUID', 'expires', 'expired', 'secretName', 'values', 'metadata'],
      },
      name,
      args,
      options,
    );
  }
}
