/** Tiny filters for `Controller.watch`: which changes matter. Everything but an update always does. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/resource.ts';
import type { CacheEvent } from './cache.ts';

export type Predicate = (event: CacheEvent) => boolean;

/** The spec changed (the API server counts `generation` up), or deletion began. Status updates are ignored. */
export const generationChanged: Predicate = changed((object) => [
  object.metadata.generation,
  object.metadata.deletionTimestamp,
]);

export const labelsChanged: Predicate = changed((object) => object.metadata.labels ?? {});

export const annotationsChanged: Predicate = changed((object) => object.metadata.annotations ?? {});

/** True when one of `predicates` is. */
export function any(...predicates: readonly Predicate[]): Predicate {
  return (event) => predicates.some((predicate) => predicate(event));
}

/** Updates in which what `select` takes from the object is another than before. */
export function changed(select: (object: KubeObject) => unknown): Predicate {
  return ({ object, previous }) => previous === undefined || !isDeepStrictEqual(select(object), select(previous));
}
