/** What the rules want of a source now. Reads caches only. */
import { reasons } from '../../../api/conditions.ts';
import type { RegistrationRule } from '../../../api/muster/kinds.ts';
import { workspaceLabel } from '../../../components/fleet/names.ts';
import { labels } from '../../../api/muster/constants.ts';
import type { Want } from './decide.ts';
import type { Holder } from './registrar.ts';
import type { Registration } from './registration.ts';
import { registrationFor, targetOf } from './registration.ts';
import type { RuleContext } from './rule-context.ts';
import type { SourceNamespace } from './selection.ts';
import { namespaceOf, rulesFor } from './selection.ts';
import type { Fault, Source, SourceKubeconfig } from './source.ts';
import { isFault } from './source.ts';

type Known = Pick<RuleContext, 'rules' | 'namespaces' | 'sources' | 'registrar' | 'claims' | 'systemNamespace'>;

export interface Wanted {
  readonly want: Want;
  /** Other rules that select it, too. */
  readonly others: readonly string[];
  /** Name that it asks for, `namespace/name`, whether it can have it or not. */
  readonly target?: string;
}

/** `undefined`: no rule selects it. */
export function wantedOf(context: Known, source: Source): Wanted | undefined {
  const [rule, ...others] = rulesFor(context.rules.list(), source, namespaceIn(context, source.namespace));
  if (rule === undefined) return undefined;
  const target = targetOf(rule, source);
  const key = isFault(target) ? undefined : `${target.workspace}/${target.name}`;
  return {
    want: {
      rule: rule.metadata.name ?? '',
      suspended: rule.spec.suspend === true,
      registration: isFault(target) ? target : registrationIn(context, rule, source, target),
    },
    others: others.map(({ metadata }) => metadata.name ?? ''),
    ...(key === undefined ? {} : { target: key }),
  };
}

export function namespaceIn({ namespaces }: Pick<Known, 'namespaces'>, name: string): SourceNamespace | undefined {
  const namespace = namespaces.get(name);
  return namespace && namespaceOf(namespace);
}

function registrationIn(
  context: Known,
  rule: RegistrationRule,
  source: Source,
  target: { workspace: string; name: string },
): Registration | Fault {
  const workspace = namespaceIn(context, target.workspace);
  if (workspace?.labels[workspaceLabel] !== 'true') {
    const message =
      `namespace ${target.workspace} is no workspace, so no cluster can be registered there: ` +
      (workspace === undefined ? 'create it with label ' : 'label it ') +
      `${workspaceLabel}=true, or name another in spec.registration.workspace of rule ${rule.metadata.name ?? ''}`;
    return { reason: reasons.workspaceNotOpen, message };
  }
  const kubeconfig =
    rule.spec.registration?.mode === 'Agent' ? undefined : context.sources.kubeconfig(source, rule.spec.source);
  if (kubeconfig !== undefined && isFault(kubeconfig)) return kubeconfig;
  return (
    (kubeconfig && closed(context, kubeconfig)) ??
    taken(context, source, `${target.workspace}/${target.name}`) ??
    registrationFor(rule, source, target, kubeconfig)
  );
}

function closed(context: Known, { namespace, name }: SourceKubeconfig): Fault | undefined {
  if (namespace === context.systemNamespace || namespaceIn(context, namespace)?.open === true) return undefined;
  const message =
    `the hub may not read Secret ${namespace}/${name} with the kubeconfig: label the namespace ${labels.source}=true, ` +
    'or let the agent register itself (spec.registration.mode: Agent)';
  return { reason: reasons.namespaceNotOpen, message };
}

/** Who has the name keeps it; of two that both want it, the older gets it. */
function taken({ registrar, claims }: Known, source: Source, key: string): Fault | undefined {
  const holder = registrar.holder(key);
  if (holder === undefined) {
    const older = claims.before(source, key);
    return older === undefined
      ? undefined
      : nameTaken(key, `${older}, which is older, is to be registered by that name`);
  }
  return holder.source === source.key ? undefined : takenBy(key, holder);
}

/** The name is that of a registration which is there already. */
export function takenBy(key: string, { source }: Holder): Fault {
  return nameTaken(key, source === undefined ? 'it was not made by a rule' : `it was made for ${source}`);
}

function nameTaken(key: string, why: string): Fault {
  const message = `Cluster ${key} exists or is promised, and ${why}; rename one of them, or change spec.registration.name`;
  return { reason: reasons.nameTaken, message };
}
