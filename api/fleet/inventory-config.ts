/** The part of the hub's configuration that says where clusters are published beside the hub: key `inventory`. */
import { parseGoDuration } from '../duration.ts';
import { isDnsLabel } from '../kubernetes/names.ts';
import { isLabelKey, isLabelValue } from '../labels.ts';
import type { Reader } from './config-reader.ts';
import { readFlag } from './config-reader.ts';

/** A label selector; written out, as the schema's own type would bring zod into the types of every program. */
export interface ClusterLabels {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface InventoryConfig {
  /** Publish each registered Cluster as a ClusterProfile, where that kind is installed. Default: true. */
  readonly clusterProfiles?: boolean;
  /** Publish Clusters to an Argo CD in the hub's cluster. Default: none are. */
  readonly argoCD?: ArgoCDConfig;
}

export interface ArgoCDConfig {
  /** Namespace of Argo CD. Required. */
  readonly namespace: string;
  /** Only Clusters with these labels. Default: all that the hub has a kubeconfig of. */
  readonly selector?: ClusterLabels;
  /** Namespaces downstream that Argo CD may work in; made when they are not there. Default: the whole cluster. */
  readonly namespaces?: readonly string[];
  /** ClusterRole downstream that Argo CD is bound to. Default: `edit` in `namespaces`, else `view` in the whole cluster. */
  readonly clusterRole?: string;
  /** Project that the clusters belong to. Default: all projects. */
  readonly project?: string;
  /** How long a token lives, a Go duration of 10m and more; renewed after four fifths of it. Default: 12h. */
  readonly tokenTTL?: string;
  /** Leave everything as it is: nothing is published, renewed or taken back. Default: false. */
  readonly suspend?: boolean;
}

/** TokenRequest: no token lives shorter. */
const shortestTokenMs = 10 * 60_000;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with each field; unknown ones are wrong, too, as a misspelt selector would select everything. */
const checks: Readonly<Record<keyof ArgoCDConfig, (value: unknown) => string | undefined>> = {
  namespace: (value) => (isText(value) && isDnsLabel(value) ? undefined : 'must be the name of a namespace'),
  selector: (value) => (isSelector(value) ? undefined : 'must be a label selector (matchLabels, matchExpressions)'),
  namespaces: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((name) => isText(name) && isDnsLabel(name))
      ? undefined
      : 'must be a list of names of namespaces, one at least',
  // names of ClusterRoles are path segments
  clusterRole: (value) =>
    isText(value) && !/[/%\s]/.test(value) && value !== '.' && value !== '..'
      ? undefined
      : 'must be the name of a ClusterRole',
  project: (value) => (isText(value) ? undefined : 'must be the name of a project'),
  tokenTTL: (value) => (isTtl(value) ? undefined : 'must be a Go duration of 10m and more, such as 12h'),
  suspend: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
};

function isTtl(value: unknown): boolean {
  try {
    return typeof value === 'string' && parseGoDuration(value) >= shortestTokenMs;
  } catch {
    return false;
  }
}

function isSelector(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { matchLabels = {}, matchExpressions = [], ...unknown } = value;
  return (
    Object.keys(unknown).length === 0 &&
    isRecord(matchLabels) &&
    Object.entries(matchLabels).every(
      ([key, text]) => isLabelKey(key) && typeof text === 'string' && isLabelValue(text),
    ) &&
    Array.isArray(matchExpressions) &&
    matchExpressions.every(isRequirement)
  );
}

function isRequirement(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { key, operator, values = [] } = value;
  if (typeof key !== 'string' || !isLabelKey(key) || !Array.isArray(values)) return false;
  if (operator === 'In' || operator === 'NotIn') {
    return values.length > 0 && values.every((text) => typeof text === 'string' && isLabelValue(text));
  }
  return (operator === 'Exists' || operator === 'DoesNotExist') && values.length === 0;
}

/** What is wrong with the settings for Argo CD, one line each, by path below `argoCD`; empty when nothing is. */
export function argoCDProblems(value: unknown): string[] {
  if (!isRecord(value)) return ['must be an object'];
  const problems = Object.entries(value)
    .filter(([, given]) => given !== undefined && given !== null)
    .flatMap(([field, given]) => {
      if (!(field in checks)) return [`${field} is not known`];
      const problem = checks[field as keyof ArgoCDConfig](given);
      return problem === undefined ? [] : [`${field} ${problem}`];
    });
  const missing = value['namespace'] === undefined || value['namespace'] === null;
  return missing ? ['namespace is missing', ...problems] : problems;
}

/**
 * Settings that cannot be used are not left out one by one: without its selector the option would give out credentials
 * of every cluster, and without the option the hub would take all of them back. So they suspend it.
 */
const readArgoCD: Reader = (value, warn) => {
  const problems = argoCDProblems(value);
  if (problems.length === 0) {
    const given = Object.entries(value as object).filter(([, each]) => each !== undefined && each !== null);
    return Object.fromEntries(given);
  }
  for (const problem of problems) warn(`${problem}; what Argo CD was given stays as it is until this is corrected`);
  return { namespace: '', suspend: true };
};

export const inventoryReaders = { clusterProfiles: readFlag, argoCD: readArgoCD } as const;
