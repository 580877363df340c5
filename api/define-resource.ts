/** A kind, described once: from it come its type, CRD, validation and reference. */
import type { z } from 'zod';
import type { KubeObject, ResourceType } from './resource.ts';
import type { CelRule } from './schema.ts';

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  /** OpenAPI type; `date` shows an age. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 (default) is always shown, 1 with `-o wide`. */
  readonly priority?: number;
}

/** What {@link defineResource} takes. */
export interface ResourceDefinition<Schema extends z.ZodObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case plural. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** One sentence; it becomes the description of the kind. */
  readonly description: string;
  /** Everything beside apiVersion, kind and metadata: usually `spec` and `status`. */
  readonly schema: Schema;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly printerColumns?: readonly PrinterColumn[];
  /** CEL rules over the whole object. */
  readonly rules?: readonly CelRule[];
}

/** A kind with its schema: a superset of what the client needs to address it. */
export interface ResourceDescriptor<
  T extends KubeObject = KubeObject,
  Schema extends z.ZodObject = z.ZodObject,
> extends ResourceType<T> {
  readonly singular: string;
  readonly listKind: string;
  readonly description: string;
  readonly schema: Schema;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly printerColumns: readonly PrinterColumn[];
  readonly rules: readonly CelRule[];
}

/** The object that a descriptor's schema describes. */
export type ObjectOf<Schema extends z.ZodObject> = KubeObject & z.input<Schema>;

/** Fills in what follows from the rest. */
export function defineResource<Schema extends z.ZodObject>(
  definition: ResourceDefinition<Schema>,
): ResourceDescriptor<ObjectOf<Schema>, Schema> {
  return {
    group: definition.group,
    version: definition.version,
    kind: definition.kind,
    plural: definition.plural,
    namespaced: definition.namespaced,
    singular: definition.kind.toLowerCase(),
    listKind: `${definition.kind}List`,
    description: definition.description,
    schema: definition.schema,
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    printerColumns: definition.printerColumns ?? [],
    rules: definition.rules ?? [],
  };
}
