/**
 * Chart of the definitions. They are templates, not files of `crds/`: helm never upgrades those. And they stay when the
 * release goes, because every registration would go with them.
 */
import type { KubeObject } from '../../api/resource.ts';
import { chartFiles, kept } from './chart.ts';
import type { ChartFile } from './chart.ts';

/** The files of chart `muster-crds`; it has no values. */
export function crdsChart(definitions: readonly KubeObject[]): ChartFile[] {
  return chartFiles({
    name: 'muster-crds',
    description: 'CustomResourceDefinitions of muster and of the registration protocol of Rancher Fleet.',
    objects: definitions.map((object) => ({ object: kept(object) })),
    values: [],
    notes: 'The definitions are installed. They stay when this release is removed; kubectl delete crd removes them.\n',
  });
}
