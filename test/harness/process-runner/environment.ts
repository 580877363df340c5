/** The environment and the command line of a container, as kubelet puts them together. */
import type { Pod } from '../../../api/kubernetes/core.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { PodConfigError } from './config-error.ts';
import { fieldOf, requireContents } from './lookup.ts';
import type { Container, EnvVar } from './pod-spec.ts';

/** Replaces `$(NAME)` by what is known; `$$` is a dollar sign; unknown names stay (Kubernetes: variable expansion). */
export function expand(text: string, known: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^)]+)\)/g, (whole, name?: string) =>
    name === undefined ? '$' : (known[name] ?? whole),
  );
}

/** What the pod's manifest says of a container's environment, on top of `base`. */
export async function environmentOf(
  client: KubeClient,
  pod: Pod,
  container: Container,
  address: string,
  base: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const env: Record<string, string> = { ...base };
  const namespace = pod.metadata.namespace ?? '';
  for (const from of container.envFrom ?? []) {
    const kind = from.configMapRef === undefined ? 'Secret' : 'ConfigMap';
    const ref = from.configMapRef ?? from.secretRef;
    if (ref === undefined) continue;
    const contents = await requireContents(client, kind, namespace, ref);
    for (const [key, value] of contents) env[`${from.prefix ?? ''}${key}`] = value.toString();
  }
  for (const variable of container.env ?? []) {
    const value = await valueOf(client, pod, variable, address, env);
    if (value !== undefined) env[variable.name] = value;
  }
  return env;
}

async function valueOf(
  client: KubeClient,
  pod: Pod,
  variable: EnvVar,
  address: string,
  known: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const from = variable.valueFrom;
  if (from === undefined) return expand(variable.value ?? '', known);
  if (from.fieldRef !== undefined) return fieldOf(pod, address, from.fieldRef.fieldPath);
  // There are no limits on a plain process; kubelet gives the node's capacity then, and nobody here asks for it.
  if (from.resourceFieldRef !== undefined) return '0';
  const kind = from.configMapKeyRef === undefined ? 'Secret' : 'ConfigMap';
  const ref = from.configMapKeyRef ?? from.secretKeyRef;
  if (ref === undefined) return undefined;
  const contents = await requireContents(client, kind, pod.metadata.namespace ?? '', ref);
  const value = contents.get(ref.key)?.toString();
  if (value !== undefined || ref.optional === true) return value;
  throw new PodConfigError('CreateContainerConfigError', `couldn't find key ${ref.key} in ${kind} ${ref.name}`);
}

/** What stands for an image: its programs by name, and its entrypoint. */
export interface ProcessImage {
  /** `{ muster: ['node', 'dist/bin/muster.cjs'] }`: the first word of a container's command, and what to run for it. */
  readonly command: Readonly<Record<string, readonly string[]>>;
  /** For containers without a command; its first word is looked up in `command` as well. */
  readonly entrypoint?: readonly string[];
}

/**
 * The words to start. A process sees the machine's own file system, so a word that is, or starts with, the path of a
 * mount is given the folder that stands for it.
 */
export function commandOf(
  image: ProcessImage,
  container: Container,
  env: Readonly<Record<string, string>>,
  mounts: ReadonlyMap<string, string>,
): string[] {
  const [program, ...rest] = [...(container.command ?? image.entrypoint ?? []), ...(container.args ?? [])].map((word) =>
    relocate(expand(word, env), mounts),
  );
  const known = program === undefined ? undefined : image.command[program];
  if (known === undefined) {
    const message = `exec: "${program ?? ''}": executable file not found in image ${container.image}`;
    throw new PodConfigError('RunContainerError', message);
  }
  return [...known, ...rest];
}

/** Replaces a mount's path at the start of `text`, or after `=`, by the folder that stands for it. */
export function relocate(text: string, mounts: ReadonlyMap<string, string>): string {
  for (const [path, folder] of mounts) {
    const at = text.startsWith(path) ? 0 : text.indexOf(`=${path}`) + 1;
    const isWhole = ['', '/'].includes(text.charAt(at + path.length));
    if ((at > 0 || text.startsWith(path)) && isWhole) return text.slice(0, at) + folder + text.slice(at + path.length);
  }
  return text;
}
