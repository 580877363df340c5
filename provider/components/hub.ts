import type { ComponentResourceOptions, Input, Output } from '@pulumi/pulumi';
import { defaults } from '../../api/fleet/constants.ts';
import type { HubConfig } from '../../api/fleet/hub-config.ts';
import { workspaceLabel } from '../../components/fleet/index.ts';
import { registrationNamespace } from '../../api/fleet/names.ts';
import type { AgentSettings } from '../resources/agent-settings.ts';
import { hubMaker } from './hub-maker.ts';
import { manifestsWithOutputs } from './manifests-with-outputs.ts';
import type { Open, OpenObject } from './open-args.ts';
import { ObjectsComponent } from './objects-component.ts';
import type { ReleaseTimeouts } from './objects-component.ts';

/** Settings that add or remove objects. */
type Structural = 'bootstrap' | 'inventory';

/** Arguments of {@link Hub}. */
export interface HubArgs {
  /** Image of the hub; agents get it, too, unless `config.agentImage` names another. */
  readonly image: Input<string>;
  readonly imagePullPolicy?: Input<'Always' | 'IfNotPresent' | 'Never'>;
  readonly imagePullSecrets?: readonly Input<string>[];
  /** System namespace. Default: `cattle-fleet-system`. */
  readonly namespace?: string;
  /** Pods; one works, the others stand by. Default: 1. */
  readonly replicas?: Input<number>;
  /** The hub's configuration: at least `apiServerURL`, the hub's address as agents see it, and its `apiServerCA`. */
  readonly config?: Open<Omit<HubConfig, Structural>> & Pick<HubConfig, Structural>;
  readonly envVars?: Open<NonNullable<AgentSettings['envVars']>>;
  readonly tolerations?: Open<NonNullable<AgentSettings['tolerations']>>;
  readonly resources?: Open<NonNullable<AgentSettings['resources']>>;
  readonly hostNetwork?: boolean;
  /** Namespaces that may hold clusters and tokens. Default: `fleet-default` and `fleet-local`. */
  readonly workspaces?: readonly string[];
  /**
   * What holds registrations stays in the cluster when the hub is removed: the definitions, the workspaces, and the
   * namespace of registrations. A hub that is installed again goes on with them. With false everything goes; remove the
   * Clusters before, as nobody is left then who detaches them. Default: true.
   */
  readonly keepRegistrations?: boolean;
  /** Whether `pulumi up` waits until the pods are ready. Default: true. */
  readonly awaitReady?: boolean;
  readonly timeouts?: ReleaseTimeouts;
}

/**
 * The hub as resources of the user's own Kubernetes provider, one for each object, as an alternative to `HubRelease`: every
 * change is seen object by object. Of its arguments, texts and numbers may be outputs that are not known yet.
 */
export class Hub extends ObjectsComponent {
  /** System namespace. */
  readonly namespace: string;
  /** Whether its pods were ready when they were last looked at. */
  readonly ready: Output<boolean>;

  /** @param options must give, or inherit, the `provider` of the hub's cluster. */
  constructor(name: string, args: HubArgs, options: ComponentResourceOptions) {
    const { keepRegistrations = true, awaitReady = true, timeouts, ...rest } = args;
    const namespace = args.namespace ?? defaults.systemNamespace;
    const manifests = manifestsWithOutputs(`Hub ${name}`, { config: {}, ...rest, namespace }, hubMaker);
    const isKept = (object: OpenObject): boolean => keepRegistrations && holdsRegistrations(object, namespace);
    super('Hub', name, manifests, { timeouts, isKept, awaitReady }, options);
    this.namespace = namespace;
    this.ready = this.readiness();
    this.registerOutputs({ namespace, ready: this.ready });
  }
}

function holdsRegistrations({ kind, name, fields }: OpenObject, system: string): boolean {
  if (kind === 'CustomResourceDefinition') return true;
  if (kind !== 'Namespace') return false;
  const { labels } = fields['metadata'] as { labels?: Record<string, unknown> };
  return name === registrationNamespace(system) || labels?.[workspaceLabel] !== undefined;
}
