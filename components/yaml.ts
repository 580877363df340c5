/** Manifests as YAML, as kubectl and the tools around Kubernetes read it. */
import { Document, visit } from 'yaml';
import type { KubeObject } from '../api/resource.ts';

/** Options of {@link toYaml}. */
export interface YamlOptions {
  /** Sort the keys of every map, so that equal objects are equal texts wherever they come from. Default: false. */
  readonly sorted?: boolean;
}

/**
 * Characters that YAML 1.1 takes for the end of a line, or refuses, where they stand as they are: controls but tab and line
 * feed, DEL and the second set of controls, the separators of lines and paragraphs, byte order marks and no characters.
 */
// eslint-disable-next-line no-control-regex
const special = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;
const specialEverywhere = new RegExp(special, 'g');

/** One document per object. YAML 1.1, because that is what Kubernetes' tools read: `on`, `1e3` and the like are quoted. */
export function toYaml(objects: readonly KubeObject[], { sorted = false }: YamlOptions = {}): string {
  return objects.map((object) => documentOf(object, sorted)).join('---\n');
}

function documentOf(object: KubeObject, sorted: boolean): string {
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false, sortMapEntries: sorted });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && special.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  // What is left of them stands between double quotes, where an escape is what the character was.
  return document
    .toString({ lineWidth: 0 })
    .replace(specialEverywhere, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
