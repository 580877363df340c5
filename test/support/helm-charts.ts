/** Charts on disk for the real helm, and what of an object is a matter of its manifest. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../api/resource.ts';
import type { ChartFile } from '../../components/helm/index.ts';

/** Writes a chart; returns its folder. */
export function writeChart(folder: string, files: readonly ChartFile[]): string {
  for (const { path, text } of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

/** Labels and annotations by which helm and the API server know an object say nothing about what it is. */
export function meaning({ metadata, ...rest }: KubeObject): unknown {
  const { status: _status, ...object } = rest as Record<string, unknown>;
  const others = (record: Readonly<Record<string, string>> | undefined) =>
    Object.fromEntries(
      Object.entries(record ?? {}).filter(
        ([key]) =>
          !/^(meta\.helm\.sh|helm\.sh|deployment\.kubernetes\.io)\/|managed-by$|kubernetes\.io\/metadata\.name/.test(
            key,
          ),
      ),
    );
  const { name, namespace } = metadata;
  return {
    ...object,
    metadata: { name, namespace, labels: others(metadata.labels), annotations: others(metadata.annotations) },
  };
}

/** Variables may come in any order, as nobody here refers to another. */
export function sortedVariables(object: unknown): unknown {
  return JSON.parse(JSON.stringify(object), (key, value: unknown) =>
    key === 'env' && Array.isArray(value)
      ? [...(value as { name: string }[])].sort((a, b) => (a.name < b.name ? -1 : 1))
      : value,
  ) as unknown;
}

/** Sorted, with nothing that is helm's own. Lists of a pod's variables and tolerations have no order. */
export function comparable(objects: readonly KubeObject[]): unknown[] {
  const texts = objects.map((object) => {
    const plain = sortedVariables(meaning(object));
    return JSON.stringify(plain, (key, value: unknown) => {
      if (key === 'tolerations' && Array.isArray(value)) return value.map((each) => canonical(each)).sort();
      return key === 'config' && typeof value === 'string' ? (JSON.parse(value) as unknown) : value;
    });
  });
  return texts.map((text) => canonical(JSON.parse(text))).sort();
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
