/** What a rule makes of a source: the registration that is wanted, in words that hold for every protocol. Pure. */
import { reasons } from '../../../api/conditions.ts';
import { parseGoDuration } from '../../../api/duration.ts';
import { isDnsLabel } from '../../../api/kubernetes/names.ts';
import { labelProblems } from '../../../api/labels.ts';
import { annotations, defaults, labels, reservedPrefixes } from '../../../api/muster/constants.ts';
import type { RegistrationRule, RegistrationRuleSpec } from '../../../api/muster/kinds.ts';
import { groupName } from './group-name.ts';
import type { Fault, SourceKubeconfig, Source } from './source.ts';

/** What happens when the source goes. */
export interface LossPolicy {
  readonly action: 'Detach' | 'Keep';
  readonly delayMs: number;
  readonly timeoutMs: number;
}

export interface Registration {
  /** Name of the rule. */
  readonly rule: string;
  readonly source: Pick<Source, 'key' | 'uid'>;
  /** Namespace and name of the registration. */
  readonly workspace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Group of the workspace that it belongs to. */
  readonly group?: string;
  readonly agent: NonNullable<NonNullable<RegistrationRuleSpec['registration']>['agent']>;
  /** The hub installs the agent with this; absent: the agent registers itself. */
  readonly kubeconfig?: SourceKubeconfig;
  /** Life of an agent's token, a Go duration. */
  readonly tokenTTL: string;
  readonly loss: LossPolicy;
}

/** Where the rule wants the registration of the source. */
export function targetOf(rule: RegistrationRule, source: Source): { workspace: string; name: string } | Fault {
  const { workspace = source.namespace, name: template = defaults.name } = rule.spec.registration ?? {};
  const name = fill(template, source);
  if (isDnsLabel(name)) return { workspace, name };
  const message =
    `rule ${rule.metadata.name ?? ''} names it ${JSON.stringify(name.slice(0, 100))}, which is no name: 1 to 63 of a-z, ` +
    `0-9 and "-", a letter or digit at both ends; change spec.registration.name (now ${template})`;
  return { reason: reasons.invalidName, message };
}

/** The whole registration; `kubeconfig` is left out in mode Agent. */
export function registrationFor(
  rule: RegistrationRule,
  source: Source,
  target: { workspace: string; name: string },
  kubeconfig: SourceKubeconfig | undefined,
): Registration | Fault {
  const { labels: wanted, annotations: notes, groups, agent = {}, token } = rule.spec.registration ?? {};
  const group = groupName(groups?.by ?? 'None', source);
  const all = { ...chosen(source.labels, wanted, source), ...(group ? { [labels.clusterGroup]: group } : {}) };
  const [problem] = labelProblems(all);
  if (problem !== undefined) {
    const message = `rule ${rule.metadata.name ?? ''}: spec.registration.labels.set${problem.path} ${problem.message}`;
    return { reason: reasons.invalidSpec, message };
  }
  return {
    rule: rule.metadata.name ?? '',
    source: { key: source.key, uid: source.uid },
    ...target,
    labels: all,
    annotations: chosen(source.annotations, notes, source),
    ...(group ? { group } : {}),
    agent,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    tokenTTL: token?.ttl ?? defaults.tokenTTL,
    loss: lossPolicy(rule.spec.onSourceDeleted),
  };
}

export function lossPolicy(spec: RegistrationRuleSpec['onSourceDeleted'] = {}): LossPolicy {
  const { action, delay, timeout } = { ...defaults.onSourceDeleted, ...spec };
  return { action, delayMs: parseGoDuration(delay), timeoutMs: parseGoDuration(timeout) };
}

/** The policy as the registration remembers it, as JSON. */
export function formatLoss(policy: LossPolicy): string {
  return JSON.stringify(policy);
}

/** Reads {@link formatLoss}; what is not readable counts as the default. */
export function parseLoss(text: string | undefined): LossPolicy {
  const fallback = lossPolicy();
  try {
    const { action, delayMs, timeoutMs } = JSON.parse(text ?? '{}') as Partial<LossPolicy>;
    const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0;
    return {
      action: action === 'Keep' ? 'Keep' : fallback.action,
      delayMs: isTime(delayMs) ? delayMs : fallback.delayMs,
      timeoutMs: isTime(timeoutMs) ? timeoutMs : fallback.timeoutMs,
    };
  } catch {
    return fallback;
  }
}

/** `{name}`, `{namespace}` and `{class}`; other braces stay as they are. */
export function fill(template: string, source: Pick<Source, 'name' | 'namespace' | 'class'>): string {
  const values = { name: source.name, namespace: source.namespace, class: source.class?.name ?? '' };
  return template.replaceAll(/\{(name|namespace|class)\}/g, (_, key: keyof typeof values) => values[key]);
}

interface Choice {
  readonly pass?: readonly string[] | undefined;
  readonly set?: Readonly<Record<string, string>> | undefined;
}

/** What passes from the source, and what the rule sets beside it. */
function chosen(
  from: Readonly<Record<string, string>>,
  { pass = [], set = {} }: Choice = {},
  source: Source,
): Record<string, string> {
  const passed = Object.entries(from).filter(
    ([key]) => !reservedPrefixes.some((prefix) => key.startsWith(prefix)) && pass.some((glob) => isLike(key, glob)),
  );
  const given = Object.entries(set)
    .filter(([key]) => !own.has(key))
    .map(([key, value]): [string, string] => [key, fill(value, source)]);
  return Object.fromEntries([...passed, ...given]);
}

/** Keys that say whose registration it is. */
const own = new Set<string>([...Object.values(annotations), ...Object.values(labels)]);

/** Whether the text is as the pattern says; `*` stands for any text. */
export function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
