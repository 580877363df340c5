/** The file by which `kubectl apply -k DIR`, Argo CD and Flux know what a folder consists of. */
import { parseDocument, YAMLSeq } from 'yaml';
import { MusterError } from '../../api/errors.ts';

/**
 * Its name: one of the three that kustomize knows. Without an extension, so that `kubectl apply -f DIR`, which takes
 * every file with one for an object, passes over it.
 */
export const kustomizationFile = 'Kustomization';

/** The other names; a folder may have one of them instead. */
export const kustomizationFiles = [kustomizationFile, 'kustomization.yaml', 'kustomization.yml'] as const;

const head = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n';

/** Listed before everything else, because the rest needs them; kustomize keeps the order. */
const leading = ['crds.yaml', 'hub.yaml'];

/**
 * The text with `add` among its resources and `drop` not; everything else in it stays as it is, comments too. Resources
 * that were there keep their order; new ones are sorted behind them, definitions and hub before them.
 * @param text what the file holds now; undefined when there is none
 * @param where its path, for the error
 * @throws MusterError INVALID_ARGUMENT when it is no kustomization
 */
export function kustomization(
  text: string | undefined,
  { add, drop = [] }: { readonly add: readonly string[]; readonly drop?: readonly string[] },
  where: string,
): string {
  const document = parseDocument(text ?? head);
  const root: unknown = document.toJS();
  const isObject = typeof root === 'object' && root !== null && !Array.isArray(root);
  const given: unknown = isObject ? (root as { resources?: unknown }).resources : null;
  if (document.errors.length > 0 || given === null || !(given === undefined || Array.isArray(given)))
    throw new MusterError('INVALID_ARGUMENT', 'is no kustomization with a list of resources', {
      where,
      hint: 'Correct or remove the file; it is written anew when there is none.',
    });
  const present: unknown[] = given ?? [];
  const wanted = [...new Set(add)].filter((name) => !present.includes(name)).sort();
  const gone = drop.filter((name) => present.includes(name) && !add.includes(name));
  if (text !== undefined && wanted.length + gone.length === 0) return text;
  const list = document.get('resources');
  const sequence = list instanceof YAMLSeq ? (list as YAMLSeq) : new YAMLSeq();
  sequence.items = sequence.items.filter((item) => !gone.includes(textOf(item)));
  const node = (name: string) => document.createNode(name);
  const first = leading.filter((name) => wanted.includes(name));
  const last = wanted.filter((name) => !leading.includes(name));
  sequence.items = [...first.map(node), ...sequence.items, ...last.map(node)];
  document.set('resources', sequence);
  return document.toString({ lineWidth: 0 });
}

function textOf(item: unknown): string {
  const value: unknown = typeof item === 'object' && item !== null && 'value' in item ? item.value : item;
  return typeof value === 'string' ? value : '';
}
