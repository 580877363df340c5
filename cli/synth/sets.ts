/** The sets of manifests that `muster synth` knows: their flags, and what the flags mean. */
import type { Option } from 'commander';
import type { FluxFolder } from '../../components/gitops/index.ts';
import type { ChartFile } from '../../components/helm/index.ts';
import type { KubeObject } from '../../api/resource.ts';

/** Values of the flags of one set, by commander's names. */
export type Flags = Readonly<Record<string, unknown>>;

/** What a set synthesizes. */
export interface Manifests {
  readonly objects: readonly KubeObject[];
  /** Name of the file, without extension: `hub`, `cluster-east`. */
  readonly file: string;
  /** The same as a chart; absent: single objects of the user need none. Throws INVALID_ARGUMENT. */
  chart?(): ChartFile[];
}

/** One set. */
export interface ManifestSet {
  readonly name: string;
  readonly description: string;
  /** Where Flux applies it. */
  readonly folder: FluxFolder;
  readonly options: readonly Option[];
  /** Whether it can be a chart. Default: false. */
  readonly hasChart?: true;
  /** Reads what the flags name, once: standard input is gone then. Throws INVALID_ARGUMENT. */
  synth(flags: Flags): Manifests;
}
