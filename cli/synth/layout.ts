/** Which files a folder of plain manifests has, in each of the orders that `muster synth` knows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { MusterError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/resource.ts';
import {
  fluxFolders,
  fluxKustomizations,
  kustomization,
  kustomizationFile,
  kustomizationFiles,
  orderedForArgoCd,
} from '../../components/gitops/index.ts';
import type { FluxFolder } from '../../components/gitops/index.ts';
import { secretsInClear } from '../../components/secrets/index.ts';
import { toYaml } from '../../components/yaml.ts';
import { header, isOurs, pathInRepository, readIfThere } from './files.ts';
import type { OutputFile } from './files.ts';

export const orderings = ['none', 'argo-cd', 'flux'] as const;
export type Ordering = (typeof orderings)[number];

/** The manifests of one set. */
export interface SetOutput {
  /** Name of the set, as on the command line. */
  readonly set: string;
  /** Without extension. */
  readonly file: string;
  readonly folder: FluxFolder;
  readonly objects: readonly KubeObject[];
}

export interface LayoutOptions {
  readonly ordering: Ordering;
  readonly kustomization: boolean;
  readonly fluxSource?: string;
  readonly fluxPath?: string;
}

const fluxFile = 'flux.yaml';

/**
 * The files. With Flux each set is in a folder of its own and `flux.yaml` has a Kustomization for each; otherwise all are in
 * one folder, with a kustomization of them.
 * @throws MusterError INVALID_ARGUMENT when the folder was written in the other way, or has a kustomization that is none
 */
export function layOut(out: string, outputs: readonly SetOutput[], options: LayoutOptions): OutputFile[] {
  const { ordering } = options;
  const isFlux = ordering === 'flux';
  refuseOtherWay(out, isFlux);
  const manifests = outputs.map(({ set, file, folder, objects }) => ({
    set,
    folder: isFlux ? folder : '',
    name: `${file}.yaml`,
    text: header(set) + toYaml(ordering === 'argo-cd' ? orderedForArgoCd(objects) : objects),
    secret: secretsInClear(objects).length > 0,
  }));
  const files = manifests.map(({ folder, name, text, secret }) => ({ path: joined(folder, name), text, secret }));
  if (!options.kustomization && !isFlux) return files;
  const folders = [...new Set(manifests.map(({ folder }) => folder))];
  const lists = folders.map((folder) =>
    listOf(
      out,
      folder,
      manifests.filter((manifest) => manifest.folder === folder),
    ),
  );
  return [...files, ...lists, ...(isFlux ? fluxFiles(out, outputs, options) : [])];
}

/** The kustomization of a folder, with the files in it that are new. */
function listOf(
  out: string,
  folder: string,
  manifests: readonly { readonly set: string; readonly name: string }[],
): OutputFile {
  const { path, text } = present(out, folder);
  // An agent belongs to another cluster than a hub does: it is listed only where nothing else is.
  const agents = manifests.filter(({ set }) => set === 'agent').map(({ name }) => name);
  const others = manifests.filter(({ set }) => set !== 'agent').map(({ name }) => name);
  const isShared = others.length > 0 || resourcesOf(text ?? '').some((name) => ofHub.test(name));
  const change = isShared ? { add: others, drop: ['agent.yaml'] } : { add: agents };
  return { path, text: kustomization(text, change, join(out, path)) };
}

/** Files that are applied to a hub. */
const ofHub = /^(crds|hub|(cluster|token|group|gitrepo|rule)-.+)\.yaml$/;

/** What a kustomization lists; nothing when it is none, which is refused where it would be changed. */
function resourcesOf(text: string): string[] {
  const root: unknown = parseDocument(text).toJS();
  const list = typeof root === 'object' && root !== null && 'resources' in root ? root.resources : [];
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

/** The Kustomizations of Flux for the folders that are there or will be, and the list that has nothing else. */
function fluxFiles(out: string, outputs: readonly SetOutput[], options: LayoutOptions): OutputFile[] {
  const written = new Set(outputs.map(({ folder }) => folder));
  const there = fluxFolders.filter((folder) => written.has(folder) || existsSync(join(out, folder)));
  const onHub = there.filter((folder) => folder !== 'agent');
  const objects = fluxKustomizations({
    folders: onHub.length > 0 ? onHub : there,
    path: options.fluxPath ?? pathInRepository(out),
    ...(options.fluxSource === undefined ? {} : { source: options.fluxSource }),
  });
  const { path, text } = present(out, '');
  return [
    { path: fluxFile, text: header('--ordering flux') + toYaml(objects) },
    { path, text: kustomization(text, { add: [fluxFile] }, join(out, path)) },
  ];
}

/** The kustomization that a folder has, under whichever of its names; otherwise where it will be. */
function present(out: string, folder: string): { path: string; text: string | undefined } {
  const found = kustomizationFiles.find((name) => existsSync(join(out, folder, name)));
  const path = joined(folder, found ?? kustomizationFile);
  return { path, text: readIfThere(join(out, path)) };
}

/** Two layouts in one folder would apply some manifests twice, and old ones for ever. */
function refuseOtherWay(out: string, isFlux: boolean): void {
  const other = isFlux
    ? fluxFolders.map((folder) => `${folder}.yaml`).find((name) => isOurs(readIfThere(join(out, name)) ?? ''))
    : [fluxFile].find((name) => isOurs(readIfThere(join(out, name)) ?? ''));
  if (other === undefined) return;
  throw new MusterError(
    'INVALID_ARGUMENT',
    `has ${other}, which was written ${isFlux ? 'without' : 'with'} --ordering flux`,
    {
      where: out,
      hint: 'Give the same ordering as before, or remove what was written and begin anew.',
    },
  );
}

const joined = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);
