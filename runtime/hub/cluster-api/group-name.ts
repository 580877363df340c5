/** Names of the groups that rules put registrations into. Pure. */
import { createHash } from 'node:crypto';
import type { Source } from './source.ts';

/** Longest value of a label, by which a group selects. */
const longest = 63;

/**
 * `class.namespace` of the ClusterClass, with `-version` per topology; `undefined` for a source that was not built from
 * a class. Classes are shared by namespaces, so theirs is part of the name, wherever the clusters are.
 */
export function groupName(
  by: 'Class' | 'Topology' | 'None',
  source: Pick<Source, 'class' | 'version'>,
): string | undefined {
  if (by === 'None' || source.class === undefined) return undefined;
  const { name, namespace } = source.class;
  const version = by === 'Topology' && source.version ? `-${source.version}` : '';
  return safeName(`${name}.${namespace}${version}`);
}

/** Text as a name of an object that is also a label's value. What had to be changed gets a hash, so that names differ. */
export function safeName(text: string): string {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .replaceAll(/[-.]*\.[-.]*/g, '.')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  if (plain === text && text !== '' && text.length <= longest) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  const head = plain.slice(0, longest - hash.length - 1).replace(/[-.]+$/, '');
  return head === '' ? `g-${hash}` : `${head}-${hash}`;
}
