import { Output, secret } from '@pulumi/pulumi';
import type { ComponentResourceOptions, Input } from '@pulumi/pulumi';
import { defaults } from '../../api/fleet/constants.ts';
import type { AgentSettings } from '../resources/agent-settings.ts';
import { agentMaker } from './agent-maker.ts';
import { manifestsWithOutputs } from './manifests-with-outputs.ts';
import type { Open, OpenObject } from './open-args.ts';
import { ObjectsComponent } from './objects-component.ts';
import type { ReleaseTimeouts } from './objects-component.ts';

/** Settings that add or remove objects, or fields of them. */
type Structural = 'namespace' | 'hostNetwork';

/** Arguments of {@link Agent}. */
export interface AgentArgs {
  /**
   * `values` of a ClusterRegistrationToken; kept as a secret. Without them the agent waits until somebody else has made
   * the Secret `fleet-agent-bootstrap`.
   */
  readonly values?: Input<string>;
  readonly image: Input<string>;
  /**
   * Whose agent the image holds; Fleet's has its own command, rights and environment. Default: `fleet` for an image named
   * `fleet-agent`, else `muster`; an image that is not known yet counts as muster's.
   */
  readonly program?: 'muster' | 'fleet';
  readonly imagePullPolicy?: Input<'Always' | 'IfNotPresent' | 'Never'>;
  readonly imagePullSecrets?: readonly Input<string>[];
  /** Pods; one works, the others stand by. Default: 1. */
  readonly replicas?: Input<number>;
  /** Identity at the hub. Default: the UID of the cluster's namespace kube-system. */
  readonly clientID?: Input<string>;
  /** Labels that the agent asks for when it registers. */
  readonly labels?: Readonly<Record<string, Input<string>>>;
  readonly agent?: Open<Omit<AgentSettings, Structural>> & Pick<AgentSettings, Structural>;
  /** Time between heartbeats, a Go duration. Default: `15m`. */
  readonly checkinInterval?: Input<string>;
  readonly agentTLSMode?: Input<'system-store' | 'strict'>;
  /** Registry prefix of `image` that `agent.privateRepoURL` replaces. Default: none. */
  readonly systemDefaultRegistry?: string;
  /** Time between clean-ups, a Go duration. Default: the agent's own, `15m`. */
  readonly garbageCollectionInterval?: Input<string>;
  /** Reconciles at a time, as text. Default: `50` each. */
  readonly workers?: { readonly bundledeployment?: Input<string>; readonly drift?: Input<string> };
  /** Change it to any other number to have the agent restarted. */
  readonly redeploy?: Input<number>;
  /** Whether the agent installs workloads. Default: true for Fleet's agent, else false. */
  readonly deploysWorkloads?: boolean;
  /**
   * Whether the namespace belongs to the agent. Set it to false where it belongs to somebody else, such as a hub in the
   * same cluster; it must then be there. Default: true.
   */
  readonly createNamespace?: boolean;
  /** Whether `pulumi up` waits until the pods are ready: those of muster's agent are when it has registered. Default: true. */
  readonly awaitReady?: boolean;
  readonly timeouts?: ReleaseTimeouts;
}

/**
 * The agent in a downstream cluster as resources of the user's own Kubernetes provider, one for each object, as an
 * alternative to `AgentRelease`: every change is seen object by object. Of its arguments, texts and numbers may be outputs
 * that are not known yet.
 */
export class Agent extends ObjectsComponent {
  readonly namespace: string;
  /** Whether its pods were ready when they were last looked at; those of muster's agent are when it has registered. */
  readonly ready: Output<boolean>;

  /** @param options must give, or inherit, the `provider` of the agent's cluster. */
  constructor(name: string, args: AgentArgs, options: ComponentResourceOptions) {
    const { agent, values, createNamespace = true, awaitReady = true, timeouts, ...rest } = args;
    const namespace = agent?.namespace ?? defaults.agentNamespace;
    const isKnown = !Output.isInstance(args.image) && !(args.image instanceof Promise);
    const given = {
      ...(isKnown ? {} : { program: 'muster' }),
      ...rest,
      ...(agent === undefined ? {} : { agentSettings: agent }),
      ...(values === undefined ? {} : { values: secret(values) }),
    };
    const manifests = manifestsWithOutputs(`Agent ${name}`, given, agentMaker);
    const own = manifests.filter(({ kind }) => createNamespace || kind !== 'Namespace');
    super('Agent', name, own, { timeouts, isKept, awaitReady }, options);
    this.namespace = namespace;
    this.ready = this.readiness();
    this.registerOutputs({ namespace, ready: this.ready });
  }
}

/** Kubernetes' own account: every namespace has one, and gets it back. */
const isKept = ({ kind, name }: OpenObject): boolean => kind === 'ServiceAccount' && name === 'default';
