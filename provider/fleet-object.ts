/** What the resources share that are one object of the hub, owned by one stack. */
import { annotations } from '../api/fleet/constants.ts';
import { MusterError } from '../api/errors.ts';
import type { KubeObject, ResourceType } from '../api/resource.ts';
import { keyOf } from '../api/resource.ts';
import type { AnyMetadata } from './inputs.ts';
import { differs, isUnknown } from './unknowns.ts';

/** Field manager of what is applied to the hub: fields that it stops naming are removed, other managers' stay. */
export const fieldManager = 'pulumi-muster';

/** The part of a handler's inputs that this file works on. */
export interface Owned {
  readonly metadata: AnyMetadata;
  readonly resourceName: string;
  readonly owner: string;
}

/** metadata to apply. */
export function wantedMetadata({ metadata, owner }: Owned): KubeObject['metadata'] {
  return {
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
    annotations: { ...metadata.annotations, [annotations.owner]: owner },
  };
}

/** The declared part of metadata as it stands on the hub: what others have added is not ours to report. */
export function observedMetadata<M extends AnyMetadata>(declared: M, object: KubeObject): M {
  const pick = (
    wanted: Record<string, string> | undefined,
    found: Record<string, string> | undefined,
  ): Record<string, string> | undefined => {
    if (wanted === undefined) return undefined;
    return Object.fromEntries(
      Object.keys(wanted).flatMap((key) => (found?.[key] === undefined ? [] : [[key, found[key]]])),
    );
  };
  return {
    ...declared,
    labels: pick(declared.labels, object.metadata.labels),
    annotations: pick(declared.annotations, object.metadata.annotations),
  };
}

/**
 * Lets an object be written only if it is not there, or is of one of `owners` (`project/stack`).
 * @throws MusterError ALREADY_OWNED
 */
export function requireOwner(type: ResourceType, object: KubeObject | undefined, owners: readonly string[]): void {
  if (object === undefined) return;
  const owner = object.metadata.annotations?.[annotations.owner];
  if (owner !== undefined && owners.includes(owner)) return;
  const { name = '', namespace } = object.metadata;
  const place = namespace === undefined ? '' : ` -n ${namespace}`;
  const who = owner === undefined ? 'was not made by this stack' : `belongs to the stack ${owner}`;
  throw new MusterError('ALREADY_OWNED', `an object of this name is there already and ${who}`, {
    where: `${type.kind} ${keyOf(object)}`,
    hint:
      `Choose another name, delete the object, or hand it over with: kubectl annotate ${type.plural} ${name}${place} ` +
      `--overwrite ${annotations.owner}=${owners[0] ?? ''}`,
  });
}

/** Whether an object found under our name is ours to delete: made by us, or unchanged since we made it. */
export function isOurs(object: KubeObject, uid: string | undefined, owner: string): boolean {
  return object.metadata.uid === uid || object.metadata.annotations?.[annotations.owner] === owner;
}

/** Inputs whose change means another object: name and namespace. Unknown ones may. */
export function metadataReplaces(before: AnyMetadata, after: AnyMetadata): string[] {
  if (isUnknown(after)) return ['metadata'];
  return (['name', 'namespace'] as const)
    .filter((key) => differs(before[key], after[key]))
    .map((key) => `metadata.${key}`);
}

/** Names of the given inputs that differ from what is stored. */
export function changedInputs(before: object, after: object, names: readonly string[]): string[] {
  const olds = before as Record<string, unknown>;
  const news = after as Record<string, unknown>;
  return names.filter((name) => differs(olds[name], news[name]));
}
