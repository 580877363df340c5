/** A rule by which clusters are registered as they come and go. */
import { Option } from 'commander';
import { given } from '../../api/given.ts';
import { MusterError } from '../../api/errors.ts';
import { synthRegistrationRule } from '../../components/fleet/index.ts';
import type { RegistrationRuleProps } from '../../components/fleet/index.ts';
import { collect, pairs, readProps } from './input.ts';
import { common } from './options.ts';
import type { ManifestSet } from './sets.ts';

const names: Readonly<Record<keyof RegistrationRuleProps, true>> = {
  protocol: true,
  name: true,
  labels: true,
  annotations: true,
  source: true,
  namespaceSelector: true,
  selector: true,
  suspend: true,
  priority: true,
  mode: true,
  workspace: true,
  clusterName: true,
  clusterLabels: true,
  clusterAnnotations: true,
  agent: true,
  tokenTTL: true,
  groups: true,
  onSourceDeleted: true,
  allowSecrets: true,
};

const sources = {
  'cluster-api': { clusterAPI: {} },
  'kubeconfig-secret': { kubeconfigSecret: {} },
  'cluster-profile': { clusterProfile: {} },
} as const satisfies Record<string, RegistrationRuleProps['source']>;

interface RuleFlags {
  readonly props?: string;
  readonly name?: string;
  readonly source?: keyof typeof sources;
  readonly selector?: readonly string[];
  readonly namespaceSelector?: readonly string[];
  readonly mode?: 'Manager' | 'Agent';
  readonly workspace?: string;
}

const labelled = (texts: readonly string[] | undefined, flag: string) =>
  texts === undefined ? undefined : { matchLabels: pairs(texts, flag) };

/** Throws INVALID_ARGUMENT. */
function ruleProps(flags: RuleFlags): RegistrationRuleProps {
  const props = readProps<RegistrationRuleProps>(flags.props, names);
  const source = flags.source === undefined ? props.source : sources[flags.source];
  if (source === undefined)
    throw new MusterError('INVALID_ARGUMENT', 'has no source', {
      where: 'rule',
      hint: `Give --source, one of ${Object.keys(sources).join(', ')}, or a file with \`source\`.`,
    });
  const fromFlags = given({
    selector: labelled(flags.selector, '--selector'),
    namespaceSelector: labelled(flags.namespaceSelector, '--namespace-selector'),
    mode: flags.mode,
    workspace: flags.workspace,
  });
  return { ...props, name: flags.name ?? props.name ?? '', source, ...fromFlags };
}

export const ruleSet: ManifestSet = {
  name: 'rule',
  description: 'a RegistrationRule, to be applied to the hub: clusters are registered as their sources come and go',
  folder: 'registrations',
  options: [
    common.props(),
    common.name(),
    new Option('--source <kind>', 'what is registered').choices(Object.keys(sources)),
    new Option('--selector <key=value>', 'label of the sources; repeatable').argParser(collect),
    new Option('--namespace-selector <key=value>', 'label of their namespaces; repeatable').argParser(collect),
    new Option('--mode <mode>', 'who begins: the hub, or the agent with a token').choices(['Manager', 'Agent']),
    new Option('--workspace <namespace>', 'namespace of the registrations (default: that of the source)'),
  ],
  synth(flags: RuleFlags) {
    const props = ruleProps(flags);
    return { objects: synthRegistrationRule(props), file: `rule-${props.name}` };
  },
};
