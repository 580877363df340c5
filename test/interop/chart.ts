/** Manifests of a helm chart, rendered by the real helm, as objects that say where they belong. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../api/resource.ts';
import { resourceTypeOf } from '../../components/fleet/index.ts';
import { binary } from '../harness/binaries.ts';
import { currentRun } from '../harness/index.ts';

const run = promisify(execFile);

/** What needs pods or other programs to mean anything; the suite starts the programs itself. */
const left = new Set(['Job', 'Service']);

export interface Chart {
  readonly folder: string;
  readonly release: string;
  readonly namespace: string;
  /** Values of the user; they go through a file, since they may hold a token. */
  readonly values?: object;
  /** Text of a values file that comes first. */
  readonly valuesText?: string;
}

export async function renderChart({
  folder,
  release,
  namespace,
  values = {},
  valuesText,
}: Chart): Promise<KubeObject[]> {
  const dir = (await currentRun()).makeDir('helm');
  const texts = [...(valuesText === undefined ? [] : [valuesText]), stringify(values)];
  const files = texts.flatMap((text, index) => {
    const file = join(dir, `values-${index}.yaml`);
    writeFileSync(file, text, { mode: 0o600 });
    return ['--values', file];
  });
  const { stdout } = await run(
    await binary('helm'),
    ['template', release, folder, '--namespace', namespace, '--include-crds', ...files],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject | null);
  return objects
    .filter((object): object is KubeObject => object !== null && !left.has(object.kind))
    .map((object) => placed(object, namespace));
}

/** Helm leaves the namespace to whoever applies. */
function placed(object: KubeObject, namespace: string): KubeObject {
  if (!resourceTypeOf(object).namespaced) return object;
  return { ...object, metadata: { namespace, ...object.metadata } };
}
