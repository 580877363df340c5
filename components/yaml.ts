/** Manifests as YAML, as kubectl and the tools around Kubernetes read it. */
import { stringify } from 'yaml';
import type { KubeObject } from '../api/resource.ts';

/** Options of {@link toYaml}. */
export interface YamlOptions {
  /** Sort the keys of every map, so that equal objects are equal texts wherever they come from. Default: false. */
  readonly sorted?: boolean;
}

/** One document per object. YAML 1.1, because that is what Kubernetes' tools read: `on`, `1e3` and the like are quoted. */
export function toYaml(objects: readonly KubeObject[], { sorted = false }: YamlOptions = {}): string {
  return objects
    .map((object) =>
      stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: sorted }),
    )
    .join('---\n');
}
