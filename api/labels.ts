/** Labels that users and agents give: checked before the API server sees them, and cut to what is theirs to set. */
import { MusterError } from './errors.ts';
import { isDnsSubdomain } from './kubernetes/names.ts';
import { labels as fleetLabels } from './fleet/constants.ts';

const PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/** Kubernetes: an optional DNS prefix and `/`, then up to 63 letters, digits, `-`, `_` and `.`. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  const name = slash < 0 ? key : key.slice(slash + 1);
  if (slash >= 0 && !isDnsSubdomain(key.slice(0, slash))) return false;
  return name.length <= 63 && PART.test(name);
}

/** Kubernetes: empty, or up to 63 letters, digits, `-`, `_` and `.` with a letter or digit at both ends. */
export function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= 63 && PART.test(value));
}

/** What is wrong with labels, one line each, by path below `where`; empty when nothing is. */
export function labelProblems(labels: Readonly<Record<string, string>>): { path: string; message: string }[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const path = `[${JSON.stringify(key.slice(0, 80))}]`;
    const problems: { path: string; message: string }[] = [];
    if (!isLabelKey(key)) problems.push({ path, message: 'is not a valid label key' });
    if (typeof value !== 'string') problems.push({ path, message: 'must be a text' });
    else if (!isLabelValue(value)) problems.push({ path, message: 'has a value that is not a valid label value' });
    return problems;
  });
}

/**
 * Checks labels that a user gave and returns them.
 * @throws MusterError INVALID_ARGUMENT naming every label that is wrong
 */
export function checkLabels<Labels extends Readonly<Record<string, string>>>(labels: Labels, where = 'labels'): Labels {
  const problems = labelProblems(labels);
  if (problems.length === 0) return labels;
  throw new MusterError('INVALID_ARGUMENT', problems.map(({ path, message }) => `${path} ${message}`).join('; '), {
    where,
    hint: 'Keys and values have up to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends; a key may have a DNS name and "/" in front.',
  });
}

/** Keys that a registering agent cannot set on its Cluster: they steer the hub. */
function isReserved(key: string): boolean {
  if (key === fleetLabels.createdByAgentPod) return false;
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
  return prefix === 'management.cattle.io' || prefix === 'fleet.cattle.io';
}

/**
 * Labels of a Cluster that is made for a request: those of the request without keys of `management.cattle.io/` and
 * `fleet.cattle.io/` (but with the name of the agent's pod) and without invalid ones; none at all with `ignore`, the
 * hub's ignoreClusterRegistrationLabels.
 */
export function registrationLabels(
  labels: Readonly<Record<string, string>> | null | undefined,
  options: { readonly ignore?: boolean } = {},
): Record<string, string> {
  if (options.ignore) return {};
  return Object.fromEntries(
    Object.entries(labels ?? {}).filter(
      ([key, value]) => !isReserved(key) && isLabelKey(key) && typeof value === 'string' && isLabelValue(value),
    ),
  );
}

/**
 * Labels that a manager-initiated registration hands to the agent: the Cluster's without any key that contains
 * `cattle.io` or starts with `kubectl.kubernetes.io`.
 */
export function edgeConfigLabels(labels: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels ?? {}).filter(
      ([key]) => !key.includes('cattle.io') && !key.startsWith('kubectl.kubernetes.io'),
    ),
  );
}
