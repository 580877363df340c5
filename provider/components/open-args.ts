/** Types of arguments, and of manifests, in which values may be outputs while the structure is plain. */
import type { Input } from '@pulumi/pulumi';

/**
 * Texts and numbers may be outputs. Lists, names of members, and booleans are plain: they decide which objects there are
 * and what fields these have, and that is known before anything is made.
 */
export type Open<T> = T extends string | number
  ? Input<T>
  : T extends boolean | undefined | null
    ? T
    : T extends readonly (infer E)[]
      ? readonly Open<E>[]
      : T extends object
        ? { readonly [K in keyof T]: Open<T[K]> }
        : T;

/** A manifest whose fields may be outputs; its kind, name and namespace are not. */
export interface OpenObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly fields: Record<string, unknown>;
}
