/** Which rule registers a source. Pure: the same rules and the same source always give the same answer. */
import { workspaceLabel } from '../../../components/fleet/names.ts';
import type { SourceKind } from '../../../api/muster/constants.ts';
import { labels } from '../../../api/muster/constants.ts';
import type { RegistrationRule } from '../../../api/muster/kinds.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { LabelSelector } from '../fleet/label-selector.ts';
import { selects } from '../fleet/label-selector.ts';
import type { Source } from './source.ts';

/** A namespace as rules see it. */
export interface SourceNamespace {
  readonly labels: Readonly<Record<string, string>>;
  /** The hub may read Secrets in it. */
  readonly open: boolean;
}

export function namespaceOf({ metadata }: KubeObject): SourceNamespace {
  const own = metadata.labels ?? {};
  return { labels: own, open: own[labels.source] === 'true' || own[workspaceLabel] === 'true' };
}

/** The kind of source that a rule is about. */
export function kindOf(rule: RegistrationRule): SourceKind {
  const { kubeconfigSecret, clusterProfile } = rule.spec.source;
  if (kubeconfigSecret !== undefined) return 'Secret';
  return clusterProfile !== undefined ? 'ClusterProfile' : 'Cluster';
}

export function matches(rule: RegistrationRule, source: Source, namespace: SourceNamespace | undefined): boolean {
  const { selector, namespaceSelector } = rule.spec;
  if (kindOf(rule) !== source.kind || namespace === undefined) return false;
  if (rule.metadata.deletionTimestamp !== undefined) return false;
  // a Secret that the hub cannot read is not known to it, so nothing may depend on it
  if (source.kind === 'Secret' && !namespace.open) return false;
  const inNamespace =
    namespaceSelector === undefined ? namespace.open : selects(namespaceSelector as LabelSelector, namespace.labels);
  return inNamespace && (selector === undefined || selects(selector as LabelSelector, source.labels));
}

/** Sorts rules by who wins: the highest priority, then the oldest, then by name. */
export function byPrecedence(a: RegistrationRule, b: RegistrationRule): number {
  const priority = (b.spec.priority ?? 0) - (a.spec.priority ?? 0);
  if (priority !== 0) return priority;
  return (
    compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compare(a.metadata.name ?? '', b.metadata.name ?? '')
  );
}

/** All rules that select the source, the one that registers it first. */
export function rulesFor(
  rules: Iterable<RegistrationRule>,
  source: Source,
  namespace: SourceNamespace | undefined,
): RegistrationRule[] {
  return [...rules].filter((rule) => matches(rule, source, namespace)).sort(byPrecedence);
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** What is wrong with a rule that its schema cannot tell; `undefined` when nothing is. */
export function ruleProblem({ spec }: RegistrationRule): string | undefined {
  for (const [name, selector] of [
    ['selector', spec.selector],
    ['namespaceSelector', spec.namespaceSelector],
  ] as const) {
    for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
      const where = `spec.${name}: ${key} ${operator}`;
      if (!operators.includes(operator)) return `${where}: the operator must be one of ${operators.join(', ')}`;
      const takesValues = operator === 'In' || operator === 'NotIn';
      if (takesValues !== values.length > 0) return `${where}: ${takesValues ? 'needs values' : 'takes no values'}`;
    }
  }
  return undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
