/** Construct of a RegistrationRule: clusters are registered as their sources come and go. */
import { Construct } from 'constructs';
import { given } from '../../api/given.ts';
import { checkName } from '../../api/kubernetes/names.ts';
import { checkLabels } from '../../api/labels.ts';
import { apiVersion } from '../../api/muster/constants.ts';
import { registrationRuleSpec } from '../../api/muster/registration-rule.ts';
import type { RegistrationRuleSpec } from '../../api/muster/registration-rule.ts';
import type { KubeObject } from '../../api/resource.ts';
import { validate } from '../../api/validate.ts';
import { addObject } from '../add-object.ts';
import { checkProtocol } from '../protocol.ts';
import type { ProtocolProps } from '../protocol.ts';
import { refuseSecretsInClear } from '../secrets/in-clear.ts';
import type { ClusterAgentProps } from './registered-cluster.ts';
import { synthesizeOne } from './synthesize.ts';
import type { ClusterSelector } from './target.ts';

/** Labels or annotations of registrations. */
export interface PassedProps {
  /** Keys that pass from the source; `*` stands for any text. Default: none. */
  readonly pass?: readonly string[];
  /** Further ones; `{name}`, `{namespace}` and `{class}` in values stand for the source's. Default: none. */
  readonly set?: Readonly<Record<string, string>>;
}

/** Where registrations come from; exactly one. */
export interface RuleSourceProps {
  /** Clusters of Cluster API. */
  readonly clusterAPI?: Readonly<Record<string, never>>;
  /** Secrets with a kubeconfig in `key` (default `value`); needs a `selector`. */
  readonly kubeconfigSecret?: { readonly key?: string };
  /** ClusterProfiles of other cluster managers. Default provider: the first whose credential is in a Secret. */
  readonly clusterProfile?: { readonly accessProvider?: string };
}

/** Props of {@link RegistrationRule}. */
export interface RegistrationRuleProps extends ProtocolProps {
  /** Name of the rule; it has no namespace. */
  readonly name: string;
  /** Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly source: RuleSourceProps;
  /** Namespaces of sources, by label. Default: all that are opened to the hub. */
  readonly namespaceSelector?: ClusterSelector;
  /** Sources, by label. Default: all. */
  readonly selector?: ClusterSelector;
  /** Default: false. */
  readonly suspend?: boolean;
  /** Of rules that select the same source, the highest wins. Default: 0. */
  readonly priority?: number;
  /** `Manager`: the hub installs the agent. `Agent`: it registers itself with a token. Default: `Manager`. */
  readonly mode?: 'Manager' | 'Agent';
  /** Namespace of the registrations. Default: that of each source. */
  readonly workspace?: string;
  /** Template of their names, with `{name}`, `{namespace}`, `{class}`. Default: `{name}`. */
  readonly clusterName?: string;
  readonly clusterLabels?: PassedProps;
  readonly clusterAnnotations?: PassedProps;
  readonly agent?: ClusterAgentProps;
  /** Life of the token of an agent that registers itself, a Go duration. Default: `24h`. */
  readonly tokenTTL?: string;
  /** Groups per ClusterClass, or per ClusterClass and Kubernetes version. Default: `None`. */
  readonly groups?: 'Class' | 'Topology' | 'None';
  /** When a source goes. Defaults: `Detach`, `0s`, `60s`. */
  readonly onSourceDeleted?: {
    readonly action?: 'Detach' | 'Keep';
    readonly delay?: string;
    readonly timeout?: string;
  };
  /** As of other constructs: let the agent's settings hold a credential in clear. Default: false. */
  readonly allowSecrets?: boolean;
}

/** A rule. It refers to credentials and holds none. Throws INVALID_ARGUMENT, SECRET_IN_CLEAR. */
export class RegistrationRule extends Construct {
  readonly name: string;

  constructor(scope: Construct, id: string, props: RegistrationRuleProps) {
    super(scope, id);
    this.name = checkName(props.name, 'RegistrationRule.name', 'subdomain');
    const spec = specOf(props);
    validate(registrationRuleSpec, spec, `RegistrationRule ${props.name}`);
    const { labels, annotations } = props;
    const object = addObject(this, 'object', {
      apiVersion,
      kind: 'RegistrationRule',
      metadata: {
        name: this.name,
        ...(labels === undefined ? {} : { labels: { ...checkLabels(labels, 'RegistrationRule.labels') } }),
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      },
      spec,
    });
    if (!props.allowSecrets) refuseSecretsInClear([object.toJson() as KubeObject]);
  }
}

/** The rule as an object. Throws INVALID_ARGUMENT. */
export function synthRegistrationRule(props: RegistrationRuleProps): KubeObject[] {
  return synthesizeOne((chart) => new RegistrationRule(chart, 'rule', { ...props, allowSecrets: true }));
}

function specOf(props: RegistrationRuleProps): RegistrationRuleSpec {
  const { agent, tokenTTL } = props;
  const registration = given({
    protocol: props.protocol === undefined ? undefined : checkProtocol(props.protocol, 'RegistrationRule.protocol'),
    mode: props.mode,
    workspace: props.workspace,
    name: props.clusterName,
    labels: props.clusterLabels,
    annotations: props.clusterAnnotations,
    agent: agent === undefined ? undefined : agentOf(agent),
    token: tokenTTL === undefined ? undefined : { ttl: tokenTTL },
    groups: props.groups === undefined ? undefined : { by: props.groups },
  });
  return given({
    source: props.source,
    namespaceSelector: props.namespaceSelector,
    selector: props.selector,
    suspend: props.suspend,
    priority: props.priority,
    registration: Object.keys(registration).length === 0 ? undefined : registration,
    onSourceDeleted: props.onSourceDeleted,
  }) as unknown as RegistrationRuleSpec;
}

function agentOf({ imagePullSecrets, ...agent }: ClusterAgentProps): Record<string, unknown> {
  return given({ ...agent, imagePullSecrets: imagePullSecrets?.map((name) => ({ name })) });
}
