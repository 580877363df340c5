import type { CustomResourceOptions, Input, Output } from '@pulumi/pulumi';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import type { AgentSettings } from './agent-settings.ts';
import type { CommonArgs, Deep, HubConnectionArgs } from './inputs.ts';
import { MusterResource } from './muster-resource.ts';

/** Arguments of {@link HubRelease}. */
export interface HubReleaseArgs extends CommonArgs {
  /** Image of the hub; agents get it, too, unless `config.agentImage` names another. */
  readonly image: Input<string>;
  readonly imagePullPolicy?: Input<'Always' | 'IfNotPresent' | 'Never'>;
  readonly imagePullSecrets?: Input<readonly Input<string>[]>;
  /** System namespace. Default: `cattle-fleet-system`. Changing it replaces the release. */
  readonly namespace?: Input<string>;
  /** Pods; one works, the others stand by. Default: 1. */
  readonly replicas?: Input<number>;
  /** The hub's configuration: at least `apiServerURL`, the hub's address as agents see it, and its `apiServerCA`. */
  readonly config?: Deep<Partial<HubConfig>>;
  readonly envVars?: Deep<NonNullable<AgentSettings['envVars']>>;
  readonly tolerations?: Deep<NonNullable<AgentSettings['tolerations']>>;
  readonly resources?: Deep<NonNullable<AgentSettings['resources']>>;
  readonly hostNetwork?: Input<boolean>;
  /** Namespaces that may hold clusters and tokens. Default: `fleet-default` and `fleet-local`. */
  readonly workspaces?: Input<readonly Input<string>[]>;
  /**
   * Remove the hub although clusters are registered: their registrations end with it, their agents stay behind. It has to
   * be applied by `pulumi up` before the removal. Default: false, the removal fails with IN_USE.
   */
  readonly force?: Input<boolean>;
}

/** The hub itself: CustomResourceDefinitions, RBAC, configuration and controllers, as one release. */
export class HubRelease extends MusterResource {
  declare readonly namespace: Output<string>;
  declare readonly image: Output<string>;
  declare readonly hubUID: Output<string>;
  /** Whether the controllers run and the API serves every kind. */
  declare readonly ready: Output<boolean>;
  /** Everything that belongs to the release, as `kind namespace/name`. */
  declare readonly objects: Output<readonly string[]>;
  declare readonly hub: Output<HubConnectionArgs | undefined>;

  constructor(name: string, args: HubReleaseArgs, options?: CustomResourceOptions) {
    super(
      { kind: 'HubRelease', secrets: ['hub'], outputs: ['hubUID', 'ready', 'objects', 'namespace'] },
      name,
      args,
      options,
    );
  }
}
