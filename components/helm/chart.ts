/** The files of a chart from its templates. */
import { stringify } from 'yaml';
import { version } from '../../api/version.ts';
import { resourceTypeOf } from '../fleet/kinds.ts';
import type { KubeObject } from '../../api/resource.ts';
import { toTemplate } from './template.ts';
import type { Placeholders } from './template.ts';
import { valuesSchema, valuesYaml } from './values.ts';
import type { ChartValue } from './values.ts';

/** A file of a chart. */
export interface ChartFile {
  /** Below the chart's folder, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** One object of a chart, with the lines of a template around it. */
export interface ChartObject {
  readonly object: KubeObject;
  /** `if …` or `range …`, without braces. Default: always there, once. */
  readonly when?: string;
}

export interface ChartOptions {
  readonly name: string;
  readonly description: string;
  readonly objects: readonly ChartObject[];
  readonly placeholders?: Placeholders;
  readonly values: readonly ChartValue[];
  /** Text of templates/_helpers.tpl. Default: no such file. */
  readonly helpers?: string;
  /** What helm prints after an installation. */
  readonly notes: string;
}

/** Sorted by path; equal options give equal bytes. */
export function chartFiles(options: ChartOptions): ChartFile[] {
  const { name, description, objects, placeholders = {}, values, helpers, notes } = options;
  const chart = {
    apiVersion: 'v2',
    name,
    description,
    type: 'application',
    version,
    appVersion: version,
    // Admission policies are of this version.
    kubeVersion: '>=1.30.0-0',
  };
  const files = new Map<string, string[]>();
  for (const { object, when } of objects) {
    const path = `templates/${resourceTypeOf(object).plural}.yaml`;
    const text = toTemplate(object, placeholders);
    const document = when === undefined ? `---\n${text}` : `{{- ${when} }}\n---\n${text}{{- end }}\n`;
    files.set(path, [...(files.get(path) ?? []), document]);
  }
  const result = [
    { path: 'Chart.yaml', text: stringify(chart) },
    { path: 'values.yaml', text: valuesYaml(values) },
    { path: 'values.schema.json', text: valuesSchema(values) },
    { path: 'templates/NOTES.txt', text: notes },
    ...(helpers === undefined ? [] : [{ path: 'templates/_helpers.tpl', text: helpers }]),
    ...[...files].map(([path, documents]) => ({ path, text: documents.join('') })),
  ];
  return result.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Helm: what it leaves in place when it removes the release, or when the chart has it no longer. */
export function kept<T extends KubeObject>(object: T): T {
  const annotations = { ...object.metadata.annotations, 'helm.sh/resource-policy': 'keep' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
