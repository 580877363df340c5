/** Names of objects: given by the user, or made from the resource's name with a random suffix as Pulumi does. */
import { randomBytes } from 'node:crypto';
import type { Props } from './handler.ts';
import { isUnknown } from './unknowns.ts';

/** Length of the random suffix in hexadecimal digits; the same as the Kubernetes provider of Pulumi. */
const suffixLength = 8;

/** Kubernetes: names of these kinds become labels and parts of other names. */
const longestName = 63;

/** `east` → `east-1f3a9c0b`. The result is a DNS label whatever the resource is called. */
export function autoName(resourceName: string): string {
  const base = resourceName
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, longestName - suffixLength - 1)
    .replace(/-+$/, '');
  const suffix = randomBytes(suffixLength / 2).toString('hex');
  return base === '' ? `muster-${suffix}` : `${base}-${suffix}`;
}

/** Whether `name` can have come from {@link autoName}, so that a replacement will get another one. */
export function isAutoName(name: unknown, resourceName: unknown): boolean {
  if (typeof name !== 'string' || typeof resourceName !== 'string') return false;
  const suffix = name.slice(-suffixLength);
  return (
    /^[0-9a-f]{8}$/.test(suffix) && autoName(resourceName).slice(0, -suffixLength) === name.slice(0, -suffixLength)
  );
}

/**
 * `metadata` with its name filled in, and its namespace unless the kind has none. A name that was made in an earlier run
 * is kept. Nothing is filled in where metadata is unknown: it may turn out to have both.
 */
export function completeMetadata(olds: Props | undefined, news: Props, namespace: string | undefined): unknown {
  const metadata = news['metadata'] ?? {};
  if (isUnknown(metadata) || typeof metadata !== 'object') return metadata;
  const given = metadata as Props;
  const before = olds?.['metadata'] as Props | undefined;
  const result: Props =
    namespace === undefined ? { ...given } : { ...given, namespace: given['namespace'] ?? namespace };
  if (given['name'] === undefined) {
    const kept = typeof before === 'object' ? before?.['name'] : undefined;
    result['name'] = typeof kept === 'string' && !isUnknown(kept) ? kept : autoName(String(news['resourceName'] ?? ''));
  }
  return result;
}
